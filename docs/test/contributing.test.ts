import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listPages, ROOT, readPage } from '../../test-support/markdown.ts'

const IN_REPOSITORY =
  /(?<![\w/.-])(?:packages|docs|scripts|examples|bench|test-support|\.ci|\.github)\/[\w./-]+/g

/** Folders that commands generate and that are not committed. */
const GENERATED = new Set(['docs/api'])

/**
 * Finds the paths that a page names. Patterns such as `packages/<name>/rooms.json` end before the
 * bracket.
 */
function pathsIn(markdown: string): string[] {
  const code = [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
  const commands = [...markdown.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text)
  return [...code, ...commands].flatMap((text) => text.match(IN_REPOSITORY) ?? [])
}

describe('the guides for contributors', () => {
  const guides = listPages('docs/contributing')

  it.each(['CONTRIBUTING.md', ...guides])('name only files that exist: %s', (page) => {
    const named = pathsIn(readPage(page)).filter((path) => !GENERATED.has(path))
    const missing = named.filter((path) => !existsSync(join(ROOT, path)))
    expect(missing).toEqual([])
  })

  it('are all linked from CONTRIBUTING.md', () => {
    const index = readPage('CONTRIBUTING.md')
    for (const guide of guides) expect(index).toContain(`(${guide})`)
  })

  it('are reported if they name a file that does not exist', () => {
    const page = 'See `packages/none/missing.ts` and `docs/threat-model.md`.'
    expect(pathsIn(page).filter((path) => !existsSync(join(ROOT, path)))).toEqual([
      'packages/none/missing.ts',
    ])
  })

  it('name only npm scripts that package.json has', () => {
    const { scripts } = JSON.parse(readPage('package.json'))
    const named = [...readPage('CONTRIBUTING.md').matchAll(/npm run ([\w:-]+)/g)]
    expect(named.map(([, name = '']) => name).filter((name) => !(name in scripts))).toEqual([])
  })
})
