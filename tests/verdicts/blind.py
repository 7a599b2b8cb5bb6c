# SPDX-License-Identifier: MIT
"""Programs chosen by someone who has not seen the rules of the verdict; do not fit rules to them.

What limits each follows from how it is built or started, and is checked by other means before taskscope is
asked.  case.py says what a case is.
"""
import blind5_attach
import blind5_run
import blind5_why

CASES = blind5_run.CASES + blind5_attach.CASES + blind5_why.CASES
