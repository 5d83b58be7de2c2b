import sys
from .compare import compare
for path in sys.argv[1:]:
    r = compare(path)
    print(path, r.compared, r.difference)
