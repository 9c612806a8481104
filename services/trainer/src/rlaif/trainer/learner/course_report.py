"""How far a run's curriculum came, as it is told to the service: figures of segments in."""

from rlaif.contracts.curriculum_figures import CurriculumSegment
from rlaif.trainer.curriculum.route import power_on_share
from rlaif.trainer.play.course_figures import CourseFigures, LegFigures
from rlaif.trainer.run_folder.protocol import CurriculumTold
from rlaif.trainer.run_folder.search_report import curriculum_figures, marks_name
from rlaif.trainer.settings.curriculum import CurriculumSettings


def course_report(course: CourseFigures, settings: CurriculumSettings) -> CurriculumTold:
    """What is told of a curriculum that has one segment at least.

    The frontier of a segment is told as a share of its places: 1 is the nearest to its goal. It is
    0 once play succeeds from its beginning, and not before.
    """
    legs = course.legs
    names = list(dict.fromkeys(leg.demonstration for leg in legs))
    home = sum(leg.is_home for leg in legs) / len(legs)
    figures = curriculum_figures(
        "chaining" if home == 1 else "backward",
        [_segment(leg, names.index(leg.demonstration)) for leg in legs],
        power_on_share=power_on_share(settings, home),
        demonstrations=len(names),
        whole_tries=len(course.whole),
        whole_success=course.whole_success,
    )
    return CurriculumTold.model_validate(figures.model_dump())


def _segment(leg: LegFigures, demonstration: int) -> CurriculumSegment:
    return CurriculumSegment(
        demonstration=demonstration,
        from_mark=marks_name(leg.begins_with) if leg.begins_with else None,
        to_mark=marks_name(leg.goal),
        frontier=0.0 if leg.is_home else (leg.at + 1) / leg.places,
        success=leg.success,
        tries=leg.tries,
    )
