"""Something odd in a corpus: how often, and where it was met first."""

from dataclasses import dataclass, field

from nungil.records import Labelled, Pair

SHOWN = 5  # places that are named for each finding


@dataclass
class Finding:
    """Something odd: how often, and where it was met first."""

    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)

    def add(self, record: Pair | Labelled) -> None:
        """Count a record, and remember its place while few are known."""
        self.count += 1
        if len(self.places) < SHOWN:
            self.places.append((record.file, record.line))

    def where(self) -> str:
        """`train.tsv, lines 3, 7`: the first places, each file named once."""
        lines: dict[str, list[str]] = {}
        for file, line in self.places:
            lines.setdefault(file, []).append(str(line))
        named = [f"{file}, line{'s' if len(found) > 1 else ''} {', '.join(found)}" for file, found in lines.items()]
        return "; ".join(named) + (" …" if self.count > len(self.places) else "")
