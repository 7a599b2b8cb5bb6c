# SPDX-License-Identifier: MIT
"""The third of the corpus that is written by those who have not seen the rules, after these are frozen.

case.py says what a case is.  Nothing that the rules read may be fitted to these.
"""
CASES = []
