"""Files of this folder that are no tests: a test runs a type checker, and Python, on them."""

collect_ignore = ["typos.py", "user_code.py"]
