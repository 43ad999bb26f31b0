"""Speed against named rivals, and published results beside ours."""
