from tools.measure.toolcalls.own_tools import uncounted


def test_a_list_longer_than_a_glance_has_its_length_beside_it() -> None:
    rows = [
        ({"count": 5, "rows": [1, 2, 3, 4, 5]}, ()),
        ({"rows": [1, 2, 3, 4, 5]}, ("rows",)),
        ({"rows": [1, 2, 3]}, ()),
        ({"headline": "5 endpoints bill.", "rows": [1, 2, 3, 4, 5]}, ()),
        ({"headline": "15 endpoints bill.", "rows": [1, 2, 3, 4, 5]}, ("rows",)),
        ({"shown": "10 of 1,313", "rows": list(range(10))}, ()),
        ({"count": 4, "parts": [{"n": 5, "ids": [1, 2, 3, 4, 5]}] * 4}, ()),
        ({"count": 4, "parts": [{"ids": [1, 2, 3, 4, 5]}] * 4}, ("parts.ids",) * 4),
        ({"done": True, "rows": [1, 2, 3, 4]}, ("rows",)),
    ]
    assert [(result, uncounted(result)) for result, _ in rows] == rows
