"""Pages that a program prints about itself: its manual, its completion in bash and the reference of decks. What they say is asked of
the program."""
