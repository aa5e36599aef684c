// npm run check:rooms: prints the rooms of each package from top to bottom. Fails on an import that
// goes up or round in a circle, on a crowded folder, and on a provider or dialect that is named
// outside its own folder.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findFaults, findForeignPackages, nameOf, roomOf } from './rooms/find-faults.mjs'
import { readPackage } from './rooms/read-package.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const packages = JSON.parse(readFileSync('packages/rooms.json', 'utf8'))
const faults = []
for (const { package: name, holds, uses } of packages) {
  console.log(`\n${name}: ${holds}; uses ${uses.join(', ') || 'nothing of ours'}`)
  const { rooms, modules } = readPackage(`packages/${name}`)
  for (const [index, room] of rooms.entries()) {
    const count = modules.filter(({ path }) => roomOf(rooms, path) === index).length
    console.log(`  ${nameOf(room).padEnd(36)} ${String(count).padStart(3)}  ${room.holds}`)
  }
  const wrong = [...findFaults(rooms, modules), ...findForeignPackages(uses, modules)]
  faults.push(...wrong.map((fault) => `packages/${name}/src/${fault}`))
}

for (const fault of faults) console.error(`\n${fault}`)
console.log(faults.length === 0 ? '\nEvery import points down' : `\n${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
