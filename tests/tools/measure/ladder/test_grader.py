from tools.measure.ladder.grader import number, read, same, stated


def test_the_last_stated_answer_is_read() -> None:
    rows = [
        ("3 + 4 = 7\nAnswer: 7", "7"),
        ("Answer: 5\nWait, no.\nAnswer: 7", "7"),
        ("**Answer:** 7", "7"),
        ("**Answer: 7**", "7"),
        ("The answer is: 16", "16"),
        ("answer : $1,234.50 dollars.", "1,234.50 dollars"),
        ("Answer:\n7", "7"),
        ("It is 7.", None),
        ("Answer: ", None),
        ("", None),
    ]
    assert [(text, stated(text)) for text, _ in rows] == rows


def test_the_first_number_is_read() -> None:
    rows = [
        ("7", 7.0),
        ("$1,234.50 dollars", 1234.5),
        ("-3", -3.0),
        ("− 3 degrees", -3.0),
        (".5", 0.5),
        ("12,34", 12.0),
        ("70,000", 70000.0),
        ("1 234", 1234.0),
        ("1\u202f234 567", 1234567.0),
        ("1e3", 1000.0),
        ("3 eggs", 3.0),
        ("none", None),
        (None, None),
    ]
    assert [(text, number(text)) for text, _ in rows] == rows


def test_numbers_are_compared_as_numbers_and_words_as_words() -> None:
    rows = [
        ("70000", "70,000", True),
        ("18.0", "18", True),
        ("$18", "18", True),
        ("18.5", "18", False),
        ("180", "18", False),
        (None, "18", False),
        ("The Paris.", "paris", True),
        ("Lyon", "Paris", False),
        ("no number", "3", False),
        ("12", "12 apples", True),
        ("50 %", "50", True),
        ("Gemini 11", "Apollo 11", False),
        ("apollo 11", "Apollo 11", True),
        ("10000000000000000", "10,000,000,000,000,000", True),
    ]
    assert [(said, expected, same(said, expected)) for said, expected, _ in rows] == rows


def test_what_is_kept_is_the_number_where_one_is_expected() -> None:
    assert read("Answer: $1,200 in all", "1200") == "1200"
    assert read("Answer: many", "1200") is None
    assert read("Answer: 10,000,000,000,000,000", "10000000000000000") == "10000000000000000"
    assert read("Answer: 0.25", "1") == "0.25"
    assert read("Answer: Apollo 11", "Apollo 11") == "Apollo 11"
    assert read("Answer: Paris!", "Paris") == "Paris!"
    assert len(read("Answer: " + "x" * 1000, "Paris") or "") == 200
