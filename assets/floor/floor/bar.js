// The bar of a count: how much is done, and a mark where it should be by now. It is a background, which is painted anew without
// a layout and without a layer of its own. (The policy forbids styles in markup.)

/** draw draws it in an element; facts as factsOf gives them. */
export function draw(element, { filled, expected }) {
  set(element, "--filled", `${filled * 100}%`);
  set(element, "--expected", `${Math.min(expected, 0.99) * 100}%`);
}

function set(element, name, value) {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
