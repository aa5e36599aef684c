import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OutageUse, openJournal } from './journal.ts'
import { createOutageAllowance } from './outage.ts'

let folder: string
const warnings: string[] = []
const logger = {
  warn: (message: string) => void warnings.push(message),
  error: (message: string) => void warnings.push(message),
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
  warnings.length = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const target = {
  subject: 'user:7',
  meter: 'calls',
  window: { startsAt: new Date('2026-03-01T00:00:00Z'), endsAt: new Date('2026-04-01T00:00:00Z') },
  quota: null,
}
const use = (id: string, amount = 1): OutageUse => ({ id, target, amount })

/** Counts each id once, as the database does. */
function createCounter() {
  const counted = new Map<string, OutageUse>()
  return {
    count: async (each: OutageUse) => void counted.set(each.id, each),
    ids: () => [...counted.keys()].sort(),
    counted,
  }
}

describe('the journal of an outage', () => {
  it('returns every use of every process, also of those that have crashed', async () => {
    openJournal(folder, logger).append(use('a', 3))
    openJournal(folder, logger).append(use('b'))
    const journal = openJournal(folder, logger)
    journal.append(use('c'))
    const { count, ids, counted } = createCounter()
    await journal.replay(count)
    expect(ids()).toEqual(['a', 'b', 'c'])
    expect(counted.get('a')).toEqual(use('a', 3))
  })

  it('ignores a line that a crash cut short, and reads the lines after it', async () => {
    const journal = openJournal(folder, logger)
    journal.append(use('a'))
    const [name = ''] = readdirSync(folder)
    appendFileSync(join(folder, name), '\n{"id":"torn","subj')
    journal.append(use('b'))
    const { count, ids } = createCounter()
    await journal.replay(count)
    expect(ids()).toEqual(['a', 'b'])
    expect(warnings).toHaveLength(1)
  })

  it('begins again with a file whose uses could not all be counted', async () => {
    const journal = openJournal(folder, logger)
    journal.append(use('a'))
    journal.append(use('b'))
    const failing = async ({ id }: OutageUse) => {
      if (id === 'b') throw new Error('The database is away')
    }
    await expect(journal.replay(failing)).rejects.toThrow('away')
    const { count, ids } = createCounter()
    await journal.replay(count)
    expect(ids()).toEqual(['a', 'b'])
  })

  it('finds what its owner appended while another process closed the file', async () => {
    const owner = openJournal(folder, logger)
    owner.append(use('a'))
    const other = openJournal(folder, logger)
    const { count, ids } = createCounter()
    await other.replay(count)
    const [name = ''] = readdirSync(folder)
    // The owner had opened the file before it was renamed, and writes only now.
    appendFileSync(join(folder, name), `\n${JSON.stringify(flat(use('late')))}\n`)
    owner.append(use('b'))
    await other.replay(count)
    expect(ids()).toEqual(['a', 'b', 'late'])
  })

  it('deletes a file a minute after its last change, once it is counted', async () => {
    const journal = openJournal(folder, logger)
    journal.append(use('a'))
    const { count } = createCounter()
    await journal.replay(count)
    await journal.replay(count)
    const [name = ''] = readdirSync(folder)
    expect(name).toMatch(/\.closed\.jsonl$/)
    const before = new Date(Date.now() - 61_000)
    utimesSync(join(folder, name), before, before)
    await journal.replay(count)
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves other files of the folder alone', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'mine')
    await openJournal(folder, logger).replay(createCounter().count)
    expect(readdirSync(folder)).toEqual(['notes.txt'])
  })

  it('names a folder that cannot be one', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => openJournal(join(folder, 'file'), logger)).toThrow(/^journal: ".*file" is not a/)
  })
})

describe('use during an outage', () => {
  it('stays within the bound until it is counted, in memory and in the journal', async () => {
    for (const journal of [null, openJournal(folder, logger)]) {
      const { count, counted } = createCounter()
      const outage = createOutageAllowance({ journal, logger, count })
      expect(outage.tryAdmit(target, 3, 5)).toBe(true)
      expect(outage.tryAdmit(target, 3, 5)).toBe(false)
      expect(outage.tryAdmit(target, 2, 5)).toBe(true)
      await outage.flush()
      expect([...counted.values()].map(({ amount }) => amount).sort()).toEqual([2, 3])
      expect(outage.tryAdmit(target, 5, 5)).toBe(true)
    }
  })

  it('is counted under the same id when the outcome of the first attempt is unknown', async () => {
    const ids: string[] = []
    const outage = createOutageAllowance({
      journal: null,
      logger,
      async count({ id }) {
        ids.push(id)
        if (ids.length === 1) throw new Error('The connection was lost after the commit')
      },
    })
    outage.tryAdmit(target, 1, 5)
    await expect(outage.flush()).rejects.toThrow('lost')
    await outage.flush()
    await outage.flush()
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  it('is not admitted if the journal cannot be written', () => {
    const journal = openJournal(join(folder, 'journal'), logger)
    renameSync(join(folder, 'journal'), join(folder, 'gone'))
    const outage = createOutageAllowance({ journal, logger, count: createCounter().count })
    expect(outage.tryAdmit(target, 1, 5)).toBe(false)
    expect(warnings[0]).toContain('cannot be written')
  })
})

const flat = ({ id, amount }: OutageUse) => ({
  id,
  subject: target.subject,
  meter: target.meter,
  startsAt: target.window.startsAt.getTime(),
  endsAt: target.window.endsAt.getTime(),
  amount,
})
