import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readModule } from './read-module.mjs'

/** Reads the rooms and modules of one package, including data files. Tests are left out. */
export function readPackage(folder) {
  const src = join(folder, 'src')
  const modules = readdirSync(src, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(?:tsx?|json)$/.test(path) && !/\.test\.tsx?$|(^|\/)test\//.test(path))
    .sort()
    .map((path) => readModule(path, readFileSync(join(src, path), 'utf8')))
  return { rooms: JSON.parse(readFileSync(join(folder, 'rooms.json'), 'utf8')), modules }
}
