// npm run draw:rooms: draws the rooms of each package, and who imports whom, into docs/architecture.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { nameOf, roomOf } from './rooms/find-faults.mjs'
import { readPackage } from './rooms/read-package.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGE = join(ROOT, 'docs/architecture.md')

/** Room → the rooms below that its files import. */
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

/** Without an arrow that two others already say. */
function withoutDetours(edges) {
  const reaches = (from, to) => [...edges[from]].some((next) => next === to || reaches(next, to))
  return edges.map((targets) =>
    [...targets].filter((to) => ![...targets].some((other) => other !== to && reaches(other, to))),
  )
}

export function drawRooms(found) {
  const nodes = found.rooms.map(
    (room, index) => `  r${index}["<b>${nameOf(room)}</b><br/>${room.holds.replaceAll('"', "'")}"]`,
  )
  const arrows = withoutDetours(importsBetween(found)).flatMap((targets, from) =>
    targets.map((to) => `  r${from} --> r${to}`),
  )
  return ['```mermaid', 'flowchart TB', ...nodes, ...arrows, '```'].join('\n')
}

if (import.meta.filename === process.argv[1]) {
  let page = readFileSync(PAGE, 'utf8')
  for (const [, name] of page.matchAll(/<!-- rooms of (\w+) -->/g)) {
    const found = readPackage(join(ROOT, 'packages', name))
    if (!found) {
      console.log(`packages/${name} has no rooms.json yet`)
      continue
    }
    const marks = new RegExp(`(<!-- rooms of ${name} -->\n)[^]*?(<!-- end -->)`)
    page = page.replace(marks, (_all, start, end) => `${start}\n${drawRooms(found)}\n\n${end}`)
  }
  writeFileSync(PAGE, page)
}
