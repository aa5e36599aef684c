import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'

export interface Asset {
  readonly url: string
  readonly type: string
  readonly body: Uint8Array
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The folder `assets` of this package. The relative path is the same in `src` and `dist`. */
const folder = new URL('../../../assets/', import.meta.url)

/** Static files. Their URLs contain a hash, so that browsers may cache them forever. */
const assets = new Map(
  readdirSync(folder).flatMap((name) => {
    const type = TYPES[extname(name)]
    if (type === undefined) return []
    const file = readFileSync(new URL(name, folder))
    const body = extname(name) === '.css' ? withoutComments(file) : file
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12)
    const extension = extname(name)
    const url = `/assets/${name.slice(0, -extension.length)}-${hash}${extension}`
    return [[name, { url, type, body } satisfies Asset] as const]
  }),
)
const byUrl = new Map([...assets.values()].map((asset) => [asset.url, asset]))

/** Removes comments and indentation, which browsers do not need, from a style sheet. */
function withoutComments(file: Buffer): Buffer {
  const text = file.toString('utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  return Buffer.from(text.replace(/^\s+/gm, ''))
}

export function assetUrl(name: string): string {
  const asset = assets.get(name)
  if (!asset) throw new Error(`There is no file ${name} in the folder assets`)
  return asset.url
}

export function findAsset(path: string): Asset | null {
  return byUrl.get(path) ?? null
}
