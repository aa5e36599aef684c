import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { countCores } from './cores.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-cores-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('countCores()', () => {
  const all = availableParallelism()
  it.each([
    ['no limit', 'max 100000\n', all],
    ['half a core', '50000 100000\n', 1],
    ['a core and a half', '150000 100000\n', 1],
    ['more than the machine has', '900000000 100000\n', all],
    ['a text of another form', 'unlimited\n', all],
  ])('returns the number of cores of a container with %s', (_, limit, cores) => {
    const file = join(folder, 'cpu.max')
    writeFileSync(file, limit)
    expect(countCores(file)).toBe(cores)
  })

  it('returns the number of cores of the machine outside of containers', () => {
    expect(countCores(join(folder, 'none'))).toBe(all)
  })
})
