import pytest

from clouds.errors import InvalidInput
from tools.measure.statistics.kinds import KindRatio, KindRatios, by_kind, geometric_mean


def test_the_geometric_mean_of_2_and_8_is_4() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_every_kind_has_its_ratio_and_the_whole_its_geometric_mean() -> None:
    base = {"code": [100.0, 101.0, 99.0], "story": [100.0, 100.0, 100.0]}
    other = {"code": [240.0, 239.0, 238.0], "story": [131.0, 131.0, 130.0]}
    found = by_kind(base, other)
    assert found == KindRatios(
        base=found.base,
        other=found.other,
        ratio=found.ratio,
        most="code",
        least="story",
        kinds=(
            KindRatio(kind="code", base=100.0, other=239.0, ratio=2.39, passes=3),
            KindRatio(kind="story", base=100.0, other=131.0, ratio=1.31, passes=3),
        ),
    )
    assert found.base == pytest.approx(100.0)
    assert found.other == pytest.approx((239 * 131) ** 0.5)
    assert found.ratio == pytest.approx((2.39 * 1.31) ** 0.5)


def test_kinds_that_are_on_one_side_only_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="summary"):
        by_kind({"code": [1.0], "summary": [1.0]}, {"code": [1.0]})


def test_a_failed_kind_has_no_geometric_mean() -> None:
    with pytest.raises(InvalidInput, match="positive"):
        geometric_mean([1.0, 0.0])
