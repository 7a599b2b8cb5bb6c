# SPDX-License-Identifier: MIT
"""Programs chosen by someone who has not seen the rules of the verdict; do not fit rules to them.

They are the CASES of the modules blind?*.py here.  What limits each follows from how it is built or started,
and is checked by other means before taskscope is asked.  case.py says what a case is.
"""
import case

CASES = case.cases_of("blind?*.py")
