// The levels of a plant: the account, plants, groups and stations. Each has lists of codes of its own.

/** renameAtLevels gives a document in whose levels the lists of these names have another code in place of one; null takes it out. */
export function renameAtLevels(doc, names, from, to) {
  const codes = (list) =>
    to === null ? list.filter((code) => code !== from) : list.map((code) => (code === from ? to : code));
  const level = (e) =>
    names.reduce((now, name) => (now[name]?.includes(from) ? { ...now, [name]: codes(now[name]) } : now), e);
  const account = level(doc.account);
  return {
    ...doc,
    account: {
      ...account,
      plants: account.plants.map((p) => ({
        ...level(p),
        stationGroups: p.stationGroups.map((g) => ({ ...level(g), stations: g.stations.map(level) })),
      })),
    },
  };
}
