"""Past: the key-value cache of a decoder, with room for steps to come.

A new step is written behind the others without copying them. Appending to the same past a second time copies it first:
a past never changes for whoever else holds it.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from nungil.attention.multihead import Heads

# Sizes   B rows   H heads   R room for steps   D width of a head
LEAST = 16  # steps of room at first


@dataclass
class Room:
    """Where keys and values are written, and how many steps have been."""

    keys: Float[Tensor, "B H R D"]
    values: Float[Tensor, "B H R D"]
    filled: int


@dataclass(frozen=True)
class Past:
    """The first steps of some room."""

    room: Room
    length: int

    @classmethod
    def of(cls, heads: Heads) -> "Past":
        """A past of these steps; they are not copied."""
        steps = heads.keys.shape[2]
        return cls(Room(heads.keys, heads.values, steps), steps)

    @property
    def heads(self) -> Heads:
        """Keys and values of all steps."""
        return Heads(self.room.keys[:, :, : self.length], self.room.values[:, :, : self.length])

    def append(self, more: Heads) -> "Past":
        """These, followed by more steps."""
        after = self.length + more.keys.shape[2]
        room = self.room
        if room.filled != self.length or room.keys.shape[2] < after:
            room = self._moved(self.heads, after)
        room.keys[:, :, self.length : after] = more.keys
        room.values[:, :, self.length : after] = more.values
        room.filled = after
        return Past(room, after)

    def select(self, rows: Int[Tensor, " N"]) -> "Past":
        """Those of some rows, in the order given."""
        return Past(self._moved(self.heads.select(rows), self.length + 1), self.length)

    def _moved(self, heads: Heads, needed: int) -> Room:
        """The same steps in new room for at least `needed` steps."""
        B, H, _, D = heads.keys.shape
        room = max(LEAST, needed * 3 // 2)
        keys, values = (heads.keys.new_empty(B, H, room, D) for _ in range(2))
        keys[:, :, : self.length], values[:, :, : self.length] = heads.keys, heads.values
        return Room(keys, values, self.length)
