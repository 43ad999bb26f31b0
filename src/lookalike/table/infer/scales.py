"""Ordered words: sizes, Likert scales, low to high, grades, frequencies, education and the like.

Data only. Each scale is a tuple of levels from low to high, each level a tuple of spellings in the
form that ``vocabulary.fold`` gives them. To teach the library a scale, add it here.

Long because it is data: one entry per scale of words.
"""

from __future__ import annotations

from lookalike.table.infer.scale import Scale, levels
from lookalike.table.infer.vocabulary import MONTHS, WEEKDAYS


def _signed(letters: str) -> tuple[tuple[str, ...], ...]:
    return tuple((letter + sign,) for letter in letters for sign in ("-", "", "+"))


_GRADE = r"grade|rating|rated|mark|letter|quality|tier|score|eval|sub_?grade|band"
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_ORDINALS = levels(
    "first|1st|1st class|first class < second|2nd|2nd class|second class < "
    "third|3rd|3rd class|third class < fourth|4th < fifth|5th < sixth|6th < seventh|7th < "
    "eighth|8th < ninth|9th < tenth|10th"
)

SCALES = (
    Scale("weekdays", WEEKDAYS, least=3),
    Scale("months", MONTHS, least=3),
    Scale(
        "sizes",
        levels(
            "xxxs|3xs < xxs|2xs < xs|extra small|x small|xsmall < s|small|sm < m|medium|med|md|mid "
            "< l|large|lg|big < xl|extra large|x large|xlarge < xxl|2xl|xx large < xxxl|3xl < "
            "xxxxl|4xl < 5xl"
        ),
        least=2,
        needs=frozenset("small medium large xs xl xxl big med 2xl".split()),
    ),
    Scale("sizes", (("s",), ("m",), ("l",)), least=2, name=r"size"),
    Scale("sizes", (("s",), ("m",), ("l",)), least=3, open=True),
    Scale("low to high", (("l",), ("m",), ("h",)), least=3, open=True),
    Scale(
        "sizes",
        levels(
            "none < tiny|very small < small < medium|mid|midsize|moderate < large|big < "
            "very large|huge < giant|enormous"
        ),
        needs=frozenset("tiny small large big huge".split()),
    ),
    Scale(
        "low to high",
        levels(
            "none|no|nil|zero < extremely low|very very low < very low|lowest|v low < low|lo < "
            "medium low|low medium|moderately low|low moderate|fairly low < medium|med|mid|"
            "moderate|middle|average|normal < medium high|high medium|moderately high|"
            "moderate high|mid high|fairly high < high|hi|elevated < very high|highest|v high < "
            "extremely high|extreme|very very high"
        ),
        needs=frozenset(
            ["low", "high", "lo", "hi", "very low", "very high", "lowest", "highest", "medium"]
        ),
    ),
    Scale(
        "income groups",
        levels("low income < lower middle income < upper middle income < high income"),
    ),
    Scale(
        "income groups",
        levels(
            "low|lower|lower class < lower middle|lower middle class < middle|middle class < "
            "upper middle|upper middle class < upper|high|upper class"
        ),
        least=3,
    ),
    Scale(
        "cuts of diamonds",
        levels("fair < good < very good < premium < ideal"),
        needs=frozenset(["ideal", "premium"]),
    ),
    Scale(
        "quality",
        levels(
            "very poor|terrible|awful|very bad|horrible < poor|bad < below average < fair|mediocre|"
            "so so|acceptable|acc|unacc < average|medium|typical|ok|okay|normal|regular|"
            "satisfactory|indifferent < "
            "above average < good < very good|vgood|great < excellent|superb < outstanding|"
            "exceptional|perfect|superior"
        ),
    ),
    Scale("quality", levels("po < fa < ta < gd < ex"), least=2, needs=frozenset(["ta", "fa"])),
    Scale("quality", levels("bad < good < better < best"), needs=frozenset(["better", "best"])),
    Scale("exposure", levels("no < mn < av < gd"), least=3),
    Scale("finish", levels("unf < rfn < fin"), least=3),
    Scale("slope", levels("gtl < mod < sev"), least=3),
    Scale(
        "agreement",
        levels(
            "strongly disagree|completely disagree|totally disagree < disagree < somewhat disagree|"
            "slightly disagree|tend to disagree < neutral|neither agree nor disagree|neither|"
            "undecided|not sure|unsure < somewhat agree|slightly agree|tend to agree < agree < "
            "strongly agree|completely agree|totally agree"
        ),
        needs=frozenset(["agree", "disagree", "strongly agree", "strongly disagree"]),
    ),
    Scale(
        "favor",
        levels(
            "strongly oppose|strongly disapprove < oppose|disapprove < somewhat oppose|"
            "somewhat disapprove < neutral|neither|undecided|not sure|unsure < somewhat favor|"
            "somewhat approve|somewhat support < favor|approve|support < strongly favor|"
            "strongly approve|strongly support"
        ),
        needs=frozenset(["oppose", "disapprove", "favor", "approve", "support"]),
    ),
    Scale(
        "satisfaction",
        levels(
            "very dissatisfied|very unsatisfied|extremely dissatisfied < dissatisfied|unsatisfied "
            "< somewhat dissatisfied < neutral|neither satisfied nor dissatisfied|neither < "
            "somewhat satisfied < satisfied < very satisfied < extremely satisfied|"
            "completely satisfied"
        ),
        needs=frozenset(["satisfied", "dissatisfied", "very satisfied", "unsatisfied"]),
    ),
    Scale(
        "sentiment",
        levels("very negative < negative < neutral|mixed < positive < very positive"),
        least=3,
        needs=frozenset(["negative", "positive"]),
    ),
    Scale(
        "measure",
        levels("too little|too few|too low < about right|just right < too much|too many|too high"),
    ),
    Scale(
        "degree",
        levels(
            "not at all|not < not very|notvery|a little|slightly < somewhat|moderately < fairly|"
            "quite < very < extremely"
        ),
        least=3,
        needs=frozenset(["somewhat", "very", "moderately", "extremely"]),
    ),
    Scale(
        "happiness",
        levels("very unhappy < not too happy|unhappy < neutral < pretty happy|happy < very happy"),
    ),
    Scale(
        "likelihood",
        levels(
            "impossible < very unlikely|extremely unlikely < unlikely|improbable < somewhat "
            "unlikely < neutral|possible|maybe < somewhat likely < likely|probable|probably < very "
            "likely|extremely likely < certain|definitely"
        ),
        needs=frozenset(["likely", "unlikely", "very likely", "probable"]),
    ),
    Scale(
        "importance",
        levels(
            "not important|not at all important|unimportant < slightly important|not very important"
            "|of little importance < neutral < somewhat important|moderately important < "
            "important|fairly important < very important < extremely important|essential|critical"
        ),
        needs=frozenset(["important", "very important", "not important", "unimportant"]),
    ),
    Scale(
        "frequency",
        levels(
            "never|no < almost never|hardly ever|very rarely < rarely|rare|seldom|infrequent|"
            "infrequently < occasionally|occasional < sometimes|some of the time < often|"
            "frequently|frequent|regular|regularly < very often|usually|very frequently|most of "
            "the time|most of time|mostly < almost always < always|all of the time"
        ),
        needs=frozenset(
            "never rarely seldom sometimes often frequently always usually rare".split()
        ),
    ),
    Scale(
        "periods, rare to often",
        levels(
            "never < yearly|annually|annual|once a year < semiannually|semi annually|half yearly|"
            "semiannual|biannually < quarterly < bimonthly < monthly|once a month < semimonthly|"
            "biweekly|fortnightly|bi weekly < weekly|once a week < daily|every day|once a day < "
            "hourly"
        ),
        needs=frozenset("yearly annually annual quarterly monthly weekly daily hourly".split()),
    ),
    Scale(
        "education",
        levels(
            "none|no formal education|no schooling|illiterate < preschool|kindergarten|nursery < "
            "1st 4th|basic 4y < primary|primary school|elementary|elementary school|basic|8th or "
            "less < 5th 6th|basic 6y < 7th 8th < middle school|lower secondary|junior high|junior "
            "high school|basic 9y < 9th < 10th < 11th < 12th < some high school|less than high "
            "school|lt high school|no high school|no hs < high school|hs|hs grad|highschool|high "
            "school graduate|high school grad|hsgrad|secondary|secondary school|upper secondary|"
            "high school diploma|ged < vocational|trade school|professional course < some college|"
            "some university|somecollege < assoc voc < assoc acdm|associate|associates|associate "
            "degree|associates degree|associate college|junior college|jrcollege|2 year < "
            "bachelor|bachelors|bachelor degree|bachelors degree|college|college grad|college "
            "graduate|undergraduate|university|university degree|tertiary|4 year|bsc|ba|bs < "
            "postgraduate|graduate|graduate degree|graduate school|advanced degree|post grad|post "
            "graduate < master|masters|masters degree|master degree|msc|ma|mba < prof "
            "school|professional|professional degree < doctorate|doctoral|doctoral degree|phd|"
            "doctor"
        ),
        needs=frozenset(
            [
                "high school",
                "hs grad",
                "hs",
                "bachelor",
                "bachelors",
                "bachelors degree",
                "primary",
                "secondary",
                "tertiary",
                "phd",
                "doctorate",
                "master",
                "masters",
                "msc",
                "university degree",
                "some college",
                "elementary",
                "college",
                "high school graduate",
                "highschool",
                "graduate school",
                "undergraduate",
                "middle school",
                "college grad",
            ]
        ),
    ),
    Scale("classes of a college", levels("freshman < sophomore < junior < senior"), least=3),
    Scale(
        "ranks of professors",
        levels(
            "instructor|lecturer < assistant professor|assistant prof|asst prof|asstprof < "
            "associate professor|associate prof|assoc prof|assocprof < "
            "professor|prof|full professor|full prof"
        ),
        needs=frozenset(["assoc prof", "assocprof", "associate professor", "associate prof"]),
    ),
    Scale(
        "severity",
        levels(
            "none|no|absent < trivial|negligible|minimal|slight|very mild < minor|mild|light < "
            "moderate|medium|normal < major|serious|marked < severe|bad < critical|very severe|"
            "extreme < fatal|blocker|life threatening|catastrophic"
        ),
        needs=frozenset("mild severe minor major critical slight serious fatal trivial".split()),
    ),
    Scale(
        "urgency",
        levels(
            "not urgent|non urgent|routine|elective < soon|semi urgent < urgent < "
            "emergency|immediate|emergent"
        ),
        needs=frozenset(["urgent"]),
    ),
    Scale("ordinals", _ORDINALS),
    Scale(
        "stages", tuple((f"stage {roman}", f"stage {at}") for at, roman in enumerate(_ROMAN[:5], 1))
    ),
    Scale(
        "roman numerals",
        tuple((roman,) for roman in _ROMAN),
        needs=frozenset(["ii", "iii"]),
        name=r"stage|class|grade|level|phase|degree|tier|rank",
        open=True,
    ),
    Scale(
        "ages",
        levels(
            "newborn|neonate < infant|baby < toddler < child|children|kid|juvenile|calf|pup < "
            "preteen < adolescent|teen|teenager|immature|subadult|yearling < young adult|young|"
            "youth < adult < middle aged|middle age|middle|old adult < senior|elderly|old|aged|"
            "older adult"
        ),
        needs=frozenset(
            "infant baby child teen teenager young adult senior elderly old juvenile".split()
        ),
    ),
    Scale(
        "seniority",
        levels(
            "intern|trainee|apprentice < junior|jr|entry|entry level < associate < mid|mid "
            "level|intermediate|middle < senior|sr < lead|staff < principal < manager|director < "
            "executive|vp"
        ),
        needs=frozenset(["junior", "senior", "entry level", "mid level"]),
    ),
    Scale(
        "skill",
        levels(
            "none < novice|beginner|basic < elementary < intermediate|medium < upper intermediate "
            "< advanced|proficient < expert|master|fluent < native"
        ),
        needs=frozenset(["beginner", "intermediate", "advanced", "expert", "novice"]),
    ),
    Scale(
        "difficulty",
        levels(
            "very easy|trivial < easy < medium|moderate|normal|intermediate < "
            "hard|difficult|challenging < very hard|very difficult|expert|insane"
        ),
        needs=frozenset(["easy", "hard", "difficult"]),
    ),
    Scale(
        "speed",
        levels("very slow < slow < medium|moderate|average|normal < fast|quick|rapid < very fast"),
    ),
    Scale(
        "temperature",
        levels("freezing|very cold < cold < cool < mild|lukewarm|moderate < warm < hot < very hot"),
        needs=frozenset(["cold", "hot", "warm"]),
    ),
    Scale(
        "depth",
        levels("very shallow < shallow < medium|moderate|intermediate < deep < very deep"),
        needs=frozenset(["shallow", "deep"]),
    ),
    Scale(
        "weight classes",
        levels(
            "severely underweight < underweight|insufficient weight < normal|normal "
            "weight|healthy|healthy weight < overweight|overweight level i|pre obese < overweight "
            "level ii < obese|obesity|obesity type i < obesity type ii|severely obese < obesity "
            "type iii|morbidly obese"
        ),
        needs=frozenset(["overweight", "obese", "underweight", "overweight level i"]),
    ),
    Scale(
        "weight",
        levels("very light < light|slight < medium|moderate|normal|average < heavy < very heavy"),
        needs=frozenset(["heavy"]),
    ),
    Scale(
        "strength",
        levels("none < very weak < weak < moderate|medium|normal < strong < very strong"),
        needs=frozenset(["weak", "strong"]),
    ),
    Scale(
        "distance",
        levels("very near|very close < near|close < medium|moderate < far < very far"),
        needs=frozenset(["far"]),
    ),
    Scale(
        "length",
        levels(
            "very short < short < medium|moderate|average|normal < long|tall < very long|very tall"
        ),
        needs=frozenset(["short", "long", "tall"]),
    ),
    Scale(
        "width",
        levels("very narrow < narrow < medium|moderate < wide|broad < very wide"),
        needs=frozenset(["narrow", "wide", "broad"]),
    ),
    Scale(
        "thickness",
        levels("very thin < thin < medium|moderate < thick < very thick"),
        needs=frozenset(["thin", "thick"]),
    ),
    Scale(
        "price",
        levels(
            "free < cheap|budget|economy|inexpensive < moderate|mid range|standard|average < "
            "expensive|premium < luxury|very expensive"
        ),
        needs=frozenset(["cheap", "expensive", "luxury", "budget"]),
    ),
    Scale(
        "amount",
        levels(
            "none|not at all|nothing|zero|no < very few|hardly any|very little < few|a "
            "few|little|a little|only a little|not much|not very much < some|somewhat|moderate < "
            "quite a lot|quite a bit|several|a fair amount < many|much|a lot|very much|a great "
            "deal|lots|marked < most|extremely|very many < all|completely"
        ),
        needs=frozenset(
            [
                "few",
                "many",
                "a little",
                "a lot",
                "not at all",
                "little",
                "some",
                "not much",
                "very much",
                "hardly any",
                "most",
            ]
        ),
    ),
    Scale(
        "extent",
        levels("none|no|empty < partial|partly|partially|half < full|fully|complete|completely"),
        needs=frozenset(["partial", "partly", "partially"]),
    ),
    Scale("film ratings", levels("g < pg < pg 13 < r < nc 17"), needs=frozenset(["pg 13"])),
    Scale("medals", levels("bronze < silver < gold < platinum|diamond"), least=3),
    Scale(
        "order in time",
        levels("very early < early < mid|middle|mid day|midday|intermediate < late < very late"),
        needs=frozenset(["early", "late"]),
    ),
    Scale("position", levels("bottom|lower|below < middle|mid|center|average < top|upper|above")),
    Scale(
        "change",
        levels(
            "much worse|greatly worse < worse|decreased|decrease < same|unchanged|no "
            "change|stable|about the same|the same|stayed the same|average < better|improved|"
            "increased|increase < much better|greatly improved"
        ),
        needs=frozenset(
            [*"worse better decrease decreased increase increased improved".split(), "much better"]
        ),
    ),
    Scale(
        "clarity of diamonds",
        levels("i3 < i2 < i1 < si3 < si2 < si1 < vs2 < vs1 < vvs2 < vvs1 < if < fl"),
        least=3,
        needs=frozenset(["vs1", "vs2", "si1", "si2"]),
    ),
    Scale(
        "colors of diamonds, J to D",
        tuple((letter,) for letter in "MLKJIHGFED".lower()),
        least=5,
        needs=frozenset("ghij"),
        name=r"colou?r",
    ),
    Scale(
        "credit ratings",
        levels(
            "d < c < cc < ccc < ccc+ < b- < b < b+ < bb- < bb < bb+ < bbb- < bbb < bbb+ < a- < a "
            "< a+ < aa- < aa < aa+ < aaa"
        ),
        least=3,
        needs=frozenset(["bb", "bbb", "aa", "aaa", "ccc"]),
    ),
    Scale(
        "letter grades, worst to best",
        tuple((f"{a}{b}",) for a in "gfedcba" for b in "54321"),
        least=3,
        name=_GRADE,
    ),
    Scale("letter grades, worst to best", _signed("gfedcba"), least=2, name=_GRADE, open=True),
)
