import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FILES } from '../mutants/files.mjs'
import { makeMutants } from '../mutants/make.mjs'

const became = (text: string) => makeMutants(text).map((mutant) => mutant.became)

describe('the mistakes that npm run mutants makes', () => {
  it.each([
    ['a statement', 'f()', ['']],
    ['an if', 'if (a) b = 1', ['if (true) b = 1', 'if (false) b = 1', '']],
    ['a choice', 'const a = b ? c : d', ['true ? c : d', 'false ? c : d']],
    ['both', 'const a = b && c', ['b', 'c']],
    ['either', 'const a = b || c', ['b', 'c']],
    ['a limit', 'const a = b < c', ['b <= c']],
    ['a comparison', 'const a = b === c', ['b !== c']],
    ['a type', 'type A = B extends C ? D : E', []],
  ])('are made in %s', (_name, text, expected) => {
    expect(became(text)).toEqual(expected)
  })

  it('do not change the rest of the source', () => {
    const [first] = makeMutants('const a = 1\nconst b = a < 2 // two\n')
    expect(first).toMatchObject({ line: 2, text: 'const a = 1\nconst b = a <= 2 // two\n' })
  })

  it('are made in files that exist, for tests that exist', () => {
    const paths = Object.entries(FILES).flatMap(([file, tests]) => [file, ...tests])
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })

  it('stay unnoticed only with a listed reason, and only while the source still contains them', () => {
    const list: { file: string; was: string; why: string }[] = JSON.parse(
      readFileSync('scripts/mutants/survivors.json', 'utf8'),
    )
    const wrong = list.filter(({ file, was, why }) => {
      const isThere = makeMutants(readFileSync(file, 'utf8')).some((each) => each.was === was)
      return why === 'TODO' || why.length < 10 || !isThere
    })
    expect(wrong).toEqual([])
  })
})
