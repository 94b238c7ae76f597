"""python -m spamnb"""

from .entry import main

main()
