// Definitions of the terms in the page's labels, shown as hover text; the same sentences as in docs/glossary.md.

/** @type {Record<string, string>} */
export const GLOSSARY = {
  "reward model": "An ensemble of small networks that maps observations to the judges' score.",
  "shaping reward": "The difference of potentials that the reward model adds to the game's reward; it does not change which policy is optimal.",
  "dead letter": "An event that a consumer could not handle, stored with the reason until someone acts on it.",
  candidate: "A trained reward model that the gate has not accepted yet.",
  champion: "The reward model that is published and in use.",
  curriculum: "The order in which start states are trained, here backward: from the goal towards the beginning.",
  demonstration: "A recorded trajectory that reaches a goal; the policy imitates it and starts along it.",
  episode: "One game from a start state until it ends, or until `EPISODE_LENGTH` is reached.",
  gate: "The checks that a candidate must pass before it is published.",
  iteration: "One cycle of sampling and training.",
  judge: "A language-model persona with a rubric, which scores segments by votes.",
  label: "A judge's score of a segment, or a preference between two, from which the reward model learns.",
  milestone: "A step of the main quest, of which Seedling Vale has 24.",
  pipeline: "The loop of services: trainer, exporter, judge, reward model, and back to the trainer.",
  planner: "The language model that proposes plans and suggestions while the agent plays.",
  redrive: "Send a dead letter again.",
  segment: "300 frames of one episode: the unit that is captured, judged and learned from.",
  vote: "One answer of a judge; several votes make its score.",
};

/** The definition of the first term in a label, or null. @param {string} label */
export function meaningOf(label) {
  const text = label.toLowerCase();
  const term = Object.keys(GLOSSARY).find((each) => new RegExp(`\\b${each}s?\\b`).test(text));
  return term ? `${term}: ${GLOSSARY[term].replaceAll("`", "")}` : null;
}
