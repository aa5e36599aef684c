// npm run check:rooms: prints the rooms of each package from top to bottom. Fails on imports that
// point up or form a circle, on a provider or dialect that is named outside its own folder, and on
// an outdated picture in docs/architecture.md.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drawInto } from './rooms/draw.mjs'
import { findFaults, findForeignPackages, nameOf, roomOf } from './rooms/find-faults.mjs'
import { readPackage } from './rooms/read-package.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const packages = JSON.parse(readFileSync('packages/rooms.json', 'utf8'))
const page = readFileSync('docs/architecture.md', 'utf8')
const faults = []
for (const { package: name, holds, uses } of packages) {
  console.log(`\n${name}: ${holds}; uses ${uses.join(', ') || 'nothing of ours'}`)
  const found = readPackage(`packages/${name}`)
  const { rooms, modules } = found
  for (const [index, room] of rooms.entries()) {
    const count = modules.filter(({ path }) => roomOf(rooms, path) === index).length
    console.log(`  ${nameOf(room).padEnd(36)} ${String(count).padStart(3)}  ${room.holds}`)
  }
  const wrong = [...findFaults(rooms, modules), ...findForeignPackages(uses, modules)]
  faults.push(...wrong.map((fault) => `packages/${name}/src/${fault}`))
  if (drawInto(page, name, found) !== page) {
    faults.push(`docs/architecture.md shows the rooms of ${name} as they were: npm run draw:rooms`)
  }
}

for (const fault of faults) console.error(`\n${fault}`)
console.log(faults.length === 0 ? '\nEvery import points down' : `\n${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
