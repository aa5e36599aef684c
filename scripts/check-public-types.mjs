// npm run check:public-types, after a build: fails if a public signature names a type that cannot
// be imported from any entry point of our packages.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findUnnameable } from './public-types/find-unnameable.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const packages = readdirSync('packages')
  .filter((name) => existsSync(`packages/${name}/package.json`))
  .map((name) => {
    const { exports } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
    const entries = Object.values(exports).flatMap(
      (entry) => entry.import?.types ?? entry.types ?? [],
    )
    return {
      folder: resolve('packages', name),
      entries: entries.map((types) => resolve('packages', name, types)),
    }
  })

const faults = findUnnameable(packages).map((fault) =>
  fault.replaceAll(`${process.cwd()}/packages/`, ''),
)
for (const fault of faults) console.error(fault)
console.log(faults.length === 0 ? 'Every public type can be imported' : `${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
