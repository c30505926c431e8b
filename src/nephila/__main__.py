"""`python -m nephila` is `nephila`."""

from nephila.cli import main

if __name__ == "__main__":
    main()
