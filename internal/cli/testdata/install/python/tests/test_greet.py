import widgets


def test_greets():
    assert widgets.GREETING == "hello"
