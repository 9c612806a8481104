// Where rooms lie: the rooms of the run in, areas with a place for each room out. Pure.

/**
 * @typedef {{group: number, room: number, name: string | null, dungeon: number | null, floor: number | null, column: number | null, line: number | null, width: number, height: number, [figure: string]: any}} Room
 * @typedef {{room: Room, key: string, column: number, line: number}} Placed  column and line from 1
 * @typedef {{key: string, title: string, note: string, columns: number, rooms: Placed[]}} Area
 */

const GRID = 16; // rooms of a line above the ground; a room's number is its place
const SHELF = 8; // rooms of a line where nothing says where they lie
const ABOVE = { 0: "Overworld", 1: "Subrosia" };
const INSIDE = { 2: "Indoors", 3: "Indoors", 4: "Caves", 5: "Caves", 6: "Side views", 7: "Side views" };

/** @param {{group: number, room: number}} room */
export const keyOf = ({ group, room }) => `${group}-${room}`;

/** All areas, those above the ground first, then floors of dungeons, then what has no map. @param {readonly Room[]} rooms @returns {Area[]} */
export function areasOf(rooms) {
  /** @type {Map<string, {title: string, note: string, order: number, rooms: Room[], placed: boolean}>} */
  const found = new Map();
  for (const room of rooms) {
    const { key, ...area } = areaOf(room);
    const known = found.get(key) ?? { ...area, rooms: [] };
    known.rooms.push(room);
    found.set(key, known);
  }
  return [...found].sort(([a, one], [b, other]) => one.order - other.order || a.localeCompare(b, "en", { numeric: true }))
    .map(([key, { title, note, rooms: inside, placed }]) => ({ key, title, note, ...(placed ? onGrid(inside) : onShelf(inside)) }));
}

/** @param {Room} room */
function areaOf(room) {
  const { group, dungeon, floor, column } = room;
  if (group in ABOVE) return { key: `above-${group}`, title: ABOVE[/** @type {0 | 1} */ (group)], note: "", order: group, placed: true };
  if (dungeon !== null && floor !== null && column !== null) {
    return { key: `dungeon-${dungeon}-${floor}`, title: `Dungeon ${dungeon}, floor ${floor + 1}`, note: "", order: 10, placed: true };
  }
  const title = INSIDE[/** @type {2} */ (group)] ?? `Group ${group}`;
  return { key: title, title, note: "sorted by number; positions unknown", order: 20, placed: false };
}

/** @param {Room[]} rooms */
function onGrid(rooms) {
  const at = (/** @type {Room} */ room) => (room.column === null || room.group in ABOVE ? { column: room.room % GRID, line: Math.floor(room.room / GRID) } : { column: room.column, line: /** @type {number} */ (room.line) });
  const places = rooms.map((room) => ({ room, ...at(room) }));
  const left = Math.min(...places.map(({ column }) => column));
  const top = Math.min(...places.map(({ line }) => line));
  const columns = Math.max(...places.map(({ column }) => column)) - left + 1;
  const placed = places.map(({ room, column, line }) => ({ room, key: keyOf(room), column: column - left + 1, line: line - top + 1 }));
  return { columns, rooms: inOrder(placed) };
}

/** @param {Room[]} rooms */
function onShelf(rooms) {
  const sorted = [...rooms].sort((a, b) => a.group - b.group || a.room - b.room);
  const columns = Math.min(SHELF, sorted.length);
  return { columns, rooms: sorted.map((room, index) => ({ room, key: keyOf(room), column: (index % columns) + 1, line: Math.floor(index / columns) + 1 })) };
}

/** As one reads. @param {Placed[]} placed */
const inOrder = (placed) => placed.sort((a, b) => a.line - b.line || a.column - b.column);

/**
 * The room to which an arrow leads: the nearest in that direction, in this area.
 *
 * @param {readonly Placed[]} rooms @param {string} from  key of a room @param {string} arrow  "ArrowUp"
 */
export function neighbour(rooms, from, arrow) {
  const here = rooms.find(({ key }) => key === from);
  const [across, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[arrow] ?? [0, 0];
  if (!here || (!across && !down)) return null;
  const along = (/** @type {Placed} */ { column, line }) => (column - here.column) * across + (line - here.line) * down;
  const aside = (/** @type {Placed} */ { column, line }) => Math.abs((column - here.column) * down) + Math.abs((line - here.line) * across);
  const ahead = rooms.filter((room) => along(room) > 0);
  return ahead.reduce((best, room) => (best === null || along(room) + 2 * aside(room) < along(best) + 2 * aside(best) ? room : best), /** @type {Placed | null} */ (null));
}
