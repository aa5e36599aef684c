import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { ROOT, readPage } from '../../test-support/markdown.ts'

/** Whether a name is Fastify's word for its response, in the file that adapts Fastify. */
const isFastify = (path: string, name: string) => path.endsWith('fastify.ts') && name === 'reply'

/** Names that others have chosen: a framework, an SDK, the language, a wire format. */
const NOT_OURS = new Set([
  'FastifyReply',
  'allSettled',
  'daily_figures',
  'reply_by_date',
  'viewBox',
])

interface Word {
  readonly pattern: string
  /** Names of packages, or 'all'. */
  readonly within: readonly string[]
}

interface Source {
  readonly package: string
  readonly path: string
  readonly text: string
}

function parseGivenUp(page: string): Word[] {
  const [, table = ''] = page.split('## Given up')
  return [...table.matchAll(/^\| (`.*`) \| ([\w, ]+) \|/gm)].flatMap(([, cell = '', within = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, pattern = '']) => ({
      pattern,
      within: within.split(', '),
    })),
  )
}

const wordsOf = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_.]/)

/**
 * Whether a name contains a given-up word. `.handOver` matches inside `handOverTokens`; `settle`
 * matches only `settle`.
 */
function matches(name: string, pattern: string): boolean {
  if (!pattern.startsWith('.')) return name === pattern
  return ` ${wordsOf(name).join(' ')} `.includes(` ${wordsOf(pattern.slice(1)).join(' ')} `)
}

function namesIn({ path, text }: Source): string[] {
  const names = [path.replace(/^.*\//, '').replace(/(\.test)?\.tsx?$/, '')]
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false))
  return [...new Set(names)].filter((name) => !NOT_OURS.has(name) && !isFastify(path, name))
}

function problemsIn(source: Source, givenUp: readonly Word[]): string[] {
  const here = givenUp.filter(
    ({ within }) => within.includes('all') || within.includes(source.package),
  )
  return namesIn(source)
    .filter((name) => here.some(({ pattern }) => matches(name, pattern)))
    .map((name) => `${source.path}: ${name}`)
}

function readSources(): Source[] {
  const names = readdirSync(`${ROOT}packages`).filter((name) => !name.includes('.'))
  return names.flatMap((name) =>
    readdirSync(`${ROOT}packages/${name}/src`, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\/test\//.test(file))
      .map((file) => `packages/${name}/src/${file}`)
      .map((path) => ({ package: name, path, text: readFileSync(`${ROOT}${path}`, 'utf8') })),
  )
}

/** Finds the different shapes of a type with this name, with the files that declare each. */
function shapesOf(type: string, sources: readonly Source[]): string[] {
  const shapes = new Map<string, string[]>()
  for (const { path, text } of sources) {
    const declared = new RegExp(`^export (?:interface|type|class) ${type}\\b[^]*?^(?:}|$)`, 'm')
    const [shape] = declared.exec(text) ?? []
    if (shape !== undefined) shapes.set(shape, [...(shapes.get(shape) ?? []), path])
  }
  return [...shapes.values()].map((paths) => paths.join(' '))
}

const page = readPage('docs/glossary.md')
const givenUp = parseGivenUp(page)
const sources = readSources()
const left = sources.flatMap((source) => problemsIn(source, givenUp))

describe('the words that names in the code must not contain', () => {
  it('are listed in docs/glossary.md', () => {
    expect(givenUp.length).toBeGreaterThan(15)
  })

  it('occur in no name of a file or declaration', () => {
    expect(left).toEqual([])
  })

  it('are found in the names of files, types, variables and properties', () => {
    const source = {
      package: 'oauth',
      path: 'packages/oauth/src/http/replies.ts',
      text: 'interface HttpReply { handOver: string }; const settle = 1, settled = 2, andThen = 3',
    }
    expect(problemsIn(source, givenUp).map((problem) => problem.split(': ')[1])).toEqual([
      'replies',
      'HttpReply',
      'handOver',
      'settle',
      'andThen',
    ])
  })
})

describe('types with the same name in several packages', () => {
  it.each(['Session', 'Credentials', 'UserRecord', 'Clock'])(
    'have the same members: %s',
    (type) => {
      const places = shapesOf(type, sources)
      expect(places.length, places.join(', ')).toBeLessThan(2)
    },
  )
})
