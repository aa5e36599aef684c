import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { getLogFields, withLogFields } from './log-context.ts'
import { createLogger } from './logger.ts'

describe('the fields of log lines', () => {
  it('belong to the work that writes the line, also if several pieces of work overlap', async () => {
    const lines: string[] = []
    const logger = createLogger('info', { write: (line) => void lines.push(line) }).child({})
    await Promise.all(
      ['first', 'second'].map((name) =>
        withLogFields({ request_id: name }, async () => {
          logger.info({ name }, 'begins')
          await sleep(1)
          logger.info({ name, request_id: `${name} of the line` }, 'names its own id')
          await sleep(1)
          logger.error({ name }, 'ends')
        }),
      ),
    )
    logger.info({ name: 'outside' }, 'no work')
    const found = lines.map((line) => JSON.parse(line))
    const ids = (name: string) =>
      found.filter((line) => line.name === name).map((line) => line.request_id)
    expect(ids('first')).toEqual(['first', 'first of the line', 'first'])
    expect(ids('second')).toEqual(['second', 'second of the line', 'second'])
    expect(ids('outside')).toEqual([undefined])
  })

  it('are those of the inner work while work is nested', async () => {
    const seen: object[] = []
    await withLogFields({ request_id: 'request' }, async () => {
      await withLogFields({ job: 'webhook' }, async () => void seen.push(getLogFields()))
      seen.push(getLogFields())
    })
    expect(seen).toEqual([{ job: 'webhook' }, { request_id: 'request' }])
  })

  it('are not added any more after the work has ended or failed, even to lines of a timer that the work started', async () => {
    let later: Promise<object> = Promise.resolve({ unset: true })
    const work = withLogFields({ request_id: 'failing' }, async () => {
      later = sleep(5).then(getLogFields)
      throw new Error('It failed')
    })
    await expect(work).rejects.toThrow('It failed')
    expect(await later).toEqual({})
  })
})
