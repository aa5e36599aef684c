import { dirname, join } from 'node:path/posix'
import { nameOf, roomOf } from './find-faults.mjs'

/** Returns the page with an up-to-date picture of this package's rooms. */
export function drawInto(page, name, found) {
  const marks = new RegExp(`(<!-- rooms of ${name} -->\n)[^]*?(<!-- end -->)`)
  if (!marks.test(page)) throw new Error(`The page has no place for the rooms of ${name}`)
  return page.replace(marks, (_all, start, end) => `${start}\n${drawRooms(found)}\n\n${end}`)
}

/** Maps each room to the lower rooms that its files import. */
function importsBetween({ rooms, modules }) {
  const edges = rooms.map(() => new Set())
  for (const { path, imports } of modules) {
    const from = roomOf(rooms, path)
    for (const { specifier } of imports) {
      if (from === -1 || !specifier.startsWith('.')) continue
      const to = roomOf(rooms, join(dirname(path), specifier))
      if (to > from) edges[from].add(to)
    }
  }
  return edges
}

/** Removes arrows that follow from two others. */
function withoutDetours(edges) {
  const reaches = (from, to) => [...edges[from]].some((next) => next === to || reaches(next, to))
  return edges.map((targets) =>
    [...targets].filter((to) => ![...targets].some((other) => other !== to && reaches(other, to))),
  )
}

function drawRooms(found) {
  const nodes = found.rooms.map(
    (room, index) => `  r${index}["<b>${nameOf(room)}</b><br/>${room.holds.replaceAll('"', "'")}"]`,
  )
  const arrows = withoutDetours(importsBetween(found)).flatMap((targets, from) =>
    targets.map((to) => `  r${from} --> r${to}`),
  )
  return ['```mermaid', 'flowchart TB', ...nodes, ...arrows, '```'].join('\n')
}
