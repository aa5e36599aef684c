import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, readPage } from '../../test-support/markdown.ts'

const PAGE = 'docs/threat-model.md'

interface Row {
  readonly id: string
  readonly where: string
  readonly shownBy: string
}

interface Source {
  readonly path: string
  readonly text: string
}

function parseRows(page: string): Row[] {
  return [...page.matchAll(/^\| ([A-Z]\d+) \| .* \| (.*?) \| ?(.*?) ?\|$/gm)].map(
    ([, id = '', where = '', shownBy = '']) => ({ id, where, shownBy }),
  )
}

function knownIds(page: string): Set<string> {
  const rules = [...page.matchAll(/^- \*\*(P\d+)\*\*/gm)].map(([, id = '']) => id)
  return new Set([...rules, ...parseRows(page).map(({ id }) => id)])
}

/** Reads comments, test names and prose of all our files in a folder. */
function readSources(folder: string): Source[] {
  return readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|mjs|md)$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => ({
      path: `${folder}/${name}`,
      text: readFileSync(`${ROOT}${folder}/${name}`, 'utf8'),
    }))
}

/** Finds unknown ids, and ids cited in any other form than `threat T2`. */
function problemsIn({ path, text }: Source, known: ReadonlySet<string>): string[] {
  const unknown = [...text.matchAll(/\bthreat ([A-Z]\d+)\b/g)]
    .filter(([, id = '']) => !known.has(id))
    .map(([cited]) => `${path}: ${cited}: no such id in ${PAGE}`)
  const others = /\b[Tt]hreats (?:[A-Z]\d|§)|['"`](?:[ATGMIRFWLN]\d{1,2}) (?=\S)/g
  const testNames = path.endsWith('.test.ts') || path.endsWith('.md')
  const misspelt = [...text.matchAll(others)]
    .filter(([cited]) => testNames || /^threats/i.test(cited))
    .map(([cited]) => `${path}: ${cited}: cite it as in "threat T2"`)
  return [...unknown, ...misspelt]
}

const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

const page = readPage(PAGE)
const sources = ['packages', 'docs', 'examples', 'test-support', 'scripts', 'bench'].flatMap(
  readSources,
)
const tests = sources.filter(({ path }) => path.endsWith('.test.ts'))

describe('the threat model', () => {
  it('explains every threat id cited in the repository, and all are cited in the form "threat T2"', () => {
    const known = knownIds(page)
    const cited = sources.filter(({ path }) => path !== 'docs/test/threat-ids.test.ts')
    expect(cited.flatMap((source) => problemsIn(source, known))).toEqual([])
  })

  it('is compared with citations: an unknown id, or a citation in another form, fails the check', () => {
    const text = "// threat T2 and threat T99\n// threats G1, G2\nit('F4 fails', () => {})"
    expect(problemsIn({ path: 'a.test.ts', text }, knownIds(page))).toEqual([
      `a.test.ts: threat T99: no such id in ${PAGE}`,
      'a.test.ts: threats G1: cite it as in "threat T2"',
      'a.test.ts: \'F4 : cite it as in "threat T2"',
    ])
  })

  it('lists each threat id only once', () => {
    const ids = parseRows(page).map(({ id }) => id)
    expect(ids).toHaveLength(new Set(ids).size)
    expect(ids.length).toBeGreaterThan(60)
  })

  it.each(parseRows(page))(
    'names only existing source folders in the row of threat $id',
    ({ where }) => {
      if (where === 'not built') return
      expect(names(where)).not.toEqual([])
      for (const room of names(where)) {
        const [packageName = '', ...folders] = room.split('/')
        const path = ['packages', packageName, 'src', ...folders].join('/')
        expect(existsSync(`${ROOT}${path}`), path).toBe(true)
      }
    },
  )

  it.each(parseRows(page))(
    'names only tests that cite the threat in the row of threat $id',
    ({ id, where, shownBy }) => {
      if (where === 'not built') return
      expect(names(shownBy)).not.toEqual([])
      for (const name of names(shownBy)) {
        const citing = tests.filter(
          ({ path, text }) =>
            basename(path) === name && new RegExp(`\\bthreat ${id}\\b`).test(text),
        )
        expect(citing, `${name} does not cite it`).not.toEqual([])
      }
    },
  )
})
