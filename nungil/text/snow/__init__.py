"""Snow: English–Korean sentence pairs with gold word links, made by a grammar of our own."""
