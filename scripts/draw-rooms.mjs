// npm run draw:rooms: draws the rooms of each package and their imports into docs/architecture.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drawInto } from './rooms/draw.mjs'
import { readPackage } from './rooms/read-package.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const PAGE = 'docs/architecture.md'
const packages = JSON.parse(readFileSync('packages/rooms.json', 'utf8'))
let page = readFileSync(PAGE, 'utf8')
for (const { package: name } of packages) {
  page = drawInto(page, name, readPackage(`packages/${name}`))
}
writeFileSync(PAGE, page)
