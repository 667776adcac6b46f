// How stations are laid out on a wall screen: pages that follow each other, and the grid that fills one.

const most = 20; // stations on a page: what is larger than a hand can be read at ten metres on a usual screen

/**
 * pagesOf cuts stations into pages: by group, or all together; a group that is too large for one is cut into equal ones. It
 * gives [{title, stations: [code], part, parts}]; groups: [{title, stations}].
 */
export function pagesOf(groups, together) {
  const whole = together
    ? [{ title: [...new Set(groups.map((g) => g.plant))].join(", "), stations: groups.flatMap((g) => g.stations) }]
    : groups;
  return whole.flatMap(({ title, stations }) => {
    const parts = Math.ceil(stations.length / most),
      size = Math.ceil(stations.length / parts);
    return Array.from({ length: parts }, (_, i) => ({
      title,
      stations: stations.slice(i * size, (i + 1) * size),
      part: i + 1,
      parts,
    }));
  });
}

const shape = 1.6; // width of a station for its height

/** columnsOf gives in how many columns so many stations are largest in an area of a width and a height. */
export function columnsOf(stations, width, height) {
  let best = 1,
    largest = 0;
  for (let columns = 1; columns <= stations; columns++) {
    const size = Math.min(width / columns / shape, height / Math.ceil(stations / columns));
    if (size > largest) [best, largest] = [columns, size];
  }
  return best;
}
