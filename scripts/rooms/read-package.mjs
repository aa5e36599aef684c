import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readModule } from './read-module.mjs'

/** The rooms and modules of one package; tests beside their file are left out. */
export function readPackage(folder) {
  const src = join(folder, 'src')
  const modules = readdirSync(src, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .sort()
    .map((path) => readModule(path, readFileSync(join(src, path), 'utf8')))
  return { rooms: JSON.parse(readFileSync(join(folder, 'rooms.json'), 'utf8')), modules }
}
