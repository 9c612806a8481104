// What changed of a value, as the HUD tells it: see browsers/deltas.py. The value itself is not touched; what did
// not change is shared, so that === tells what did.

/**
 * @typedef {{v: any} | {o: Record<string, Change>, d?: string[]} | {l: Piece[]}} Change
 * @typedef {[number, number] | {i: number, c: Change} | {v: any[]}} Piece
 */

/** The value after the change; throws when it is the change of another value. @param {any} value @param {Change} change @returns {any} */
export function applied(value, change) {
  if ("v" in change) return change.v;
  if ("l" in change) {
    if (!Array.isArray(value)) throw new TypeError("a change of a list is given for something else");
    return change.l.flatMap((piece) => elements(value, piece));
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new TypeError("a change of an object is given for something else");
  const gone = new Set(change.d);
  const members = new Map(Object.entries(value).filter(([name]) => !gone.has(name)));
  for (const [name, each] of Object.entries(change.o)) members.set(name, applied(members.get(name), each));
  return Object.fromEntries(members); // unlike an assignment it takes "__proto__" for a name like any other
}

/** @param {any[]} value @param {Piece} piece */
function elements(value, piece) {
  if (Array.isArray(piece)) {
    const [from, count] = piece;
    if (from + count > value.length) throw new RangeError(`the list has ${value.length} elements, not ${from + count}`);
    return value.slice(from, from + count);
  }
  if (!("i" in piece)) return piece.v;
  if (piece.i >= value.length) throw new RangeError(`the list has ${value.length} elements, not ${piece.i + 1}`);
  return [applied(value[piece.i], piece.c)];
}
