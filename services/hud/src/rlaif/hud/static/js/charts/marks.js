// Names of marks on the axis: what would touch becomes one name, so that all can be read.

/** @typedef {import("./types.js").Mark} Mark */
/** @typedef {{members: (Mark & {at: number})[], text: string, middle: number, half: number}} Name */

const LETTER = 6.5; // widest letter of a name, pixels
const GAP = 6;

/**
 * Names from left to right; `at` is where a mark stands, pixels.
 * @param {(Mark & {at: number})[]} marks @returns {Name[]}
 */
export function nameMarks(marks) {
  /** @type {Name[]} */
  const names = [];
  for (const mark of marks) {
    let name = named([mark]);
    while (names.length && touch(names[names.length - 1], name)) name = named([.../** @type {Name} */ (names.pop()).members, ...name.members]);
    names.push(name);
  }
  return names;
}

/** @param {(Mark & {at: number})[]} members @returns {Name} */
function named(members) {
  const [first, last] = [members[0], members[members.length - 1]];
  const alike = members.every(({ kind }) => kind === first.kind) && first.label !== last.label;
  const text = members.length === 1 ? first.label : alike ? `${first.label}–${last.label}` : `${first.label}…`;
  return { members, text, middle: (first.at + last.at) / 2, half: (text.length * LETTER) / 2 };
}

/** @param {Name} left @param {Name} right */
const touch = (left, right) => left.middle + left.half + GAP > right.middle - right.half;

/** Where a name may stand without leaving the picture. @param {Name} name @param {number} width */
export const held = ({ middle, half }, width) => Math.max(half, Math.min(width - half, middle));
