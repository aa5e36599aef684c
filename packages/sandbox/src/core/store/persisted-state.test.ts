import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { loadPersistedState, PersistedState } from './persisted-state.ts'
import { serializeStateLines } from './state-file.ts'
import { SandboxStore } from './store.ts'

const NOW = new Date('2026-01-31T10:00:00Z')

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-journal-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const CLOCK = { now: () => NOW, onMoved: () => undefined }

interface Row {
  n: number
}

function openStore(): SandboxStore {
  const store = new SandboxStore(7)
  store.table<Row>('packed').packBeyond(1)
  return store
}

/** Lists the complete contents of a store, in order. */
function contents(now: Date, store: SandboxStore): string[] {
  return [...serializeStateLines(now, store)].filter((line) => !/^\["[a-z]+"\]$/.test(line))
}

async function loadCopy(file: string): Promise<string[]> {
  const folder = await temporaryFolder()
  const copy = join(folder, 'state.json')
  for (const name of await readdir(join(file, '..'))) {
    await copyFile(join(file, '..', name), join(folder, name))
  }
  const store = openStore()
  const loaded = await loadPersistedState(copy, store)
  return loaded ? contents(loaded.now, store) : []
}

const key = fc.constantFrom('a', 'b', 'c', 'd')
const table = fc.constantFrom('plain', 'packed')
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('set' as const), table, key, n: fc.nat(9) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), table, key }) },
  fc.record({ do: fc.constant('clear' as const), table }),
  fc.record({ do: fc.constant('draw' as const) }),
  fc.record({ do: fc.constant('time' as const) }),
  fc.record({ do: fc.constant('save' as const) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
)

it('the journal restores the state as it was at any flush, with rows in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const file = join(await temporaryFolder(), 'state.json')
      const store = openStore()
      let now = NOW
      const kept = new PersistedState(
        file,
        store,
        { now: () => now, onMoved: () => undefined },
        null,
      )
      kept.save()
      for (const step of actions) {
        if (step.do === 'set') store.table<Row>(step.table).set(step.key, { n: step.n })
        else if (step.do === 'delete') store.table(step.table).delete(step.key)
        else if (step.do === 'clear') store.table(step.table).clear()
        else if (step.do === 'draw') store.nextNumber('orders')
        else if (step.do === 'time') now = new Date(now.getTime() + 1000)
        else if (step.do === 'save') kept.save()
        else kept.flush()
        store.packOld()
      }
      kept.flush()
      expect(await loadCopy(file)).toEqual(contents(now, store))
      kept.close()
      expect(await readdir(join(file, '..'))).toEqual(['state.json'])
      expect(await loadCopy(file)).toEqual(contents(now, store))
    }),
    { numRuns: 60 },
  )
})

it('the journal is read without its last step if that step was written only in part', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  const store = openStore()
  const kept = new PersistedState(file, store, CLOCK, null)
  kept.save()
  const known = [contents(NOW, store)]
  const ends = [0]
  const journal = `${file}.journal-1`
  for (let n = 0; n < 2; n++) {
    store.table<Row & { text: string }>('plain').set(`row ${n}`, { n, text: 'ü\u2028\n' })
    store.table<Row>('packed').set('same', { n })
    kept.flush()
    known.push(contents(NOW, store))
    ends.push((await readFile(journal)).length)
  }
  const whole = await readFile(journal)
  for (const length of [
    ...ends,
    ...Array.from(whole, (_, at) => at).filter((at) => at % 3 === 0),
  ]) {
    await writeFile(journal, whole.subarray(0, length))
    const steps = ends.filter((end) => end <= length).length
    expect(await loadCopy(file)).toEqual(known[steps - 1])
  }
})

it('the journal is continued after its last complete step if its end was cut off', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  const first = openStore()
  const kept = new PersistedState(file, first, CLOCK, null)
  kept.save()
  first.table<Row>('plain').set('a', { n: 1 })
  kept.flush()
  const journal = `${file}.journal-1`
  await writeFile(journal, `${await readFile(journal, 'utf8')}["plain","b",{"n":`)
  const second = openStore()
  const again = new PersistedState(file, second, CLOCK, await loadPersistedState(file, second))
  second.table<Row>('plain').set('c', { n: 3 })
  again.flush()
  expect(await loadCopy(file)).toEqual(contents(NOW, second))
  expect(second.table<Row>('plain').size).toBe(2)
})

it('the journal of another sandbox is neither continued nor deleted', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'state.json')
  const store = openStore()
  const kept = new PersistedState(file, store, CLOCK, null)
  kept.save()
  const foreign = `${file}.journal-2`
  await writeFile(foreign, 'of another state')
  for (let n = 0; n < 3; n++) {
    store.table<Row>('plain').set(`row ${n}`, { n })
    kept.flush()
    expect(await loadCopy(file)).toEqual(contents(NOW, store))
    kept.save()
  }
  kept.close()
  expect(await loadCopy(file)).toEqual(contents(NOW, store))
  expect(await readFile(foreign, 'utf8')).toBe('of another state')
  expect(await readdir(folder)).toEqual(['state.json', 'state.json.journal-2'])
})

it('the journal is not written before the state file exists', async () => {
  const folder = await temporaryFolder()
  const store = openStore()
  const kept = new PersistedState(join(folder, 'state.json'), store, CLOCK, null)
  store.table<Row>('plain').set('a', { n: 1 })
  kept.flush()
  expect(await readdir(folder)).toEqual([])
  kept.begin()
  expect(await readdir(folder)).toEqual(['state.json'])
})

it('the journal is rejected if a step before its end is incomplete', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  const store = openStore()
  const kept = new PersistedState(file, store, CLOCK, null)
  kept.save()
  for (let n = 0; n < 3; n++) {
    store.table<Row>('plain').set(`row ${n}`, { n })
    kept.flush()
  }
  const journal = `${file}.journal-1`
  const lines = (await readFile(journal, 'utf8')).split('\n')
  await writeFile(journal, lines.toSpliced(2, 1).join('\n'))
  await expect(loadPersistedState(file, openStore())).rejects.toThrow(/journal .* is damaged/)
})
