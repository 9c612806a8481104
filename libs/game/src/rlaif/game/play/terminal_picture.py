"""A picture in a terminal: two pixels a character, one above the other, only what changed."""

import numpy as np
import numpy.typing as npt

CLEAR = "\x1b[2J\x1b[H"
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
OWN_SCREEN, BACK_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
_RESET = "\x1b[0m"
_HALF = "\u2580"
_CUBE = np.array([0, 95, 135, 175, 215, 255])


def fitted(picture: npt.NDArray[np.uint8], columns: int, lines: int) -> npt.NDArray[np.uint8]:
    """The picture `[rows, columns, 3]` made to fit, with an even number of rows; never enlarged."""
    rows, width, _ = picture.shape
    scale = min(1.0, columns / width, 2 * lines / rows)
    new_rows, new_width = max(2, int(rows * scale)) & ~1, max(1, int(width * scale))
    y = np.arange(new_rows) * rows // new_rows
    x = np.arange(new_width) * width // new_width
    small: npt.NDArray[np.uint8] = picture[y[:, np.newaxis], x]
    return small


class TerminalPicture:
    """Draws pictures as text; remembers the last one."""

    def __init__(self, *, true_colour: bool) -> None:
        """Use 24 bit colours, or the 216 that every terminal with colours has."""
        self._true_colour = true_colour
        self._last: npt.NDArray[np.uint8] | None = None

    def forget(self) -> None:
        """The terminal was cleared: draw everything next time."""
        self._last = None

    def text(self, picture: npt.NDArray[np.uint8]) -> str:
        """What to write so that the terminal shows `[rows, columns, 3]` uint8 from the top left."""
        cells = np.concatenate([picture[0::2], picture[1::2]], axis=2)  # [lines, columns, 6]
        if self._last is not None and self._last.shape == cells.shape:
            changed = (cells != self._last).any(axis=2)
        else:
            changed = np.ones(cells.shape[:2], dtype=np.bool_)
        self._last = cells
        return "".join(
            self._line(row, cells[row], changed[row])
            for row in np.flatnonzero(changed.any(axis=1)).tolist()
        )

    def _line(self, row: int, cells: npt.NDArray[np.uint8], changed: npt.NDArray[np.bool_]) -> str:
        parts: list[str] = []
        before, colours = -2, b""
        for column in np.flatnonzero(changed):
            if column != before + 1:
                parts.append(f"\x1b[{row + 1};{column + 1}H")
            cell = cells[column]
            if cell.tobytes() != colours:
                colours = cell.tobytes()
                parts.append(self._colours(cell))
            parts.append(_HALF)
            before = int(column)
        return "".join(parts) + _RESET

    def _colours(self, cell: npt.NDArray[np.uint8]) -> str:
        if self._true_colour:
            r, g, b, under_r, under_g, under_b = cell.tolist()
            return f"\x1b[38;2;{r};{g};{b};48;2;{under_r};{under_g};{under_b}m"
        return f"\x1b[38;5;{_in_cube(cell[:3])};48;5;{_in_cube(cell[3:])}m"


def _in_cube(colour: npt.NDArray[np.uint8]) -> int:
    """The nearest of the 216 colours, by number."""
    red, green, blue = (int(np.abs(_CUBE - int(value)).argmin()) for value in colour)
    return 16 + 36 * red + 6 * green + blue
