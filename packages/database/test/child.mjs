// The child processes of the tests: node child.mjs <job> <url> <argument>…
import { createInterface } from 'node:readline'
import { connect, createTable, dropNotNull, migrate } from '@tollgate/database'

const [job, url, ...args] = process.argv.slice(2)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Migrations that are slow enough to be killed halfway, with steps that MariaDB commits one by one.
 */
function slowMigrations(wait) {
  const table = (name) => ({
    id: name,
    async up(database, columns) {
      await createTable(database, `${name}_one`, {
        columns: { id: columns.id, name: columns.string(50) },
        primaryKey: ['id'],
        indexes: { [`${name}_one_by_name`]: ['name'] },
      })
      console.log('halfway')
      await pause(wait)
      await createTable(database, `${name}_two`, { columns: { id: columns.counter } })
    },
  })
  return { name: 'slow', migrations: [table('first'), table('second')] }
}

/** Prints which rows another process sees, and whether it can write. */
async function look(url, id) {
  const database = await connect(url)
  const { kysely } = database
  const rows = await kysely.selectFrom('things').select(['id', 'amount']).orderBy('id').execute()
  console.log(rows.map((row) => `${row.id}=${row.amount}`).join(' '))
  await kysely.insertInto('things').values({ id, amount: 0, flagged: 0 }).execute()
  console.log('wrote')
  await database.close()
}

/** Prints `held` once it holds the write lock, and `freed` once it has released it. */
async function hold(url) {
  const database = await connect(url)
  return new Promise((resolve) => {
    database
      .exclusively('held', async ({ kysely }) => {
        await kysely.updateTable('things').set({ amount: 666 }).execute()
        console.log('held')
        await new Promise((letGo) => resolve(letGo))
        throw new Error('what was begun is undone')
      })
      .catch(async () => {
        await database.close()
        console.log('freed')
      })
  })
}

const jobs = {
  async migrate(database, wait) {
    const { applied } = await migrate(database, slowMigrations(Number(wait)))
    console.log(`applied ${applied.join(' ')}`)
  },

  /** Prints `changed` when the column is nullable, and never ends the transaction. */
  async dropNotNull(database, table, column) {
    await database.exclusively('migrate', async (tx) => {
      await dropNotNull(tx, table, column)
      console.log('changed')
      await pause(1e9)
    })
  },

  /**
   * Reads a number, yields, and writes it back increased. The result is wrong unless this runs
   * alone.
   */
  async increment(database, id, times) {
    for (let i = 0; i < Number(times); i++) {
      await database.exclusively('increment', async ({ kysely }) => {
        const found = await kysely
          .selectFrom('things')
          .select('amount')
          .where('id', '=', id)
          .execute()
        await pause(1)
        const amount = found[0].amount + 1
        await kysely.updateTable('things').set({ amount }).where('id', '=', id).execute()
      })
    }
  },

  /**
   * Executes the orders on its standard input line by line: read a database, hold its write lock,
   * release the lock.
   */
  async obey() {
    let letGo = () => {}
    for await (const line of createInterface({ input: process.stdin })) {
      const [order, url, id] = line.split(' ')
      if (order === 'free') letGo()
      else if (order === 'hold') letGo = await hold(url)
      else await look(url, id)
    }
  },

  /** Prints the id of each acknowledged row until several inserts have failed. */
  async fill(database) {
    const owner = 'x'.repeat(20_000)
    let failed = 0
    for (let i = 0; failed < 5; i++) {
      await database.kysely
        .insertInto('things')
        .values({ id: `filled${i}`, owner, amount: 0, flagged: 0 })
        .returning('id')
        .execute()
        .then(
          () => console.log(`filled${i}`),
          (error) => {
            failed++
            console.log(`failed ${error.code}`)
          },
        )
    }
  },

  async holdForever(database) {
    await database.exclusively('held', async ({ kysely }) => {
      await kysely.updateTable('things').set({ amount: 666 }).execute()
      console.log('held')
      await pause(1e9)
    })
  },

  /** Prints each id only after its insert was acknowledged. */
  async insert(database, prefix, count, atOnce) {
    const insert = database.statement((db, param) =>
      db.insertInto('things').values({ id: param('id'), amount: 0, flagged: 0 }),
    )
    const move = database.statement((db, param) =>
      db.updateTable('things').set({ amount: 1 }).where('id', '=', param('id')),
    )
    let next = 0
    const work = async () => {
      while (next < Number(count)) {
        const id = `${prefix}${next++}`
        // Half of the rows are inserted alone, half in a transaction of two writes.
        if (next % 2) await insert({ id })
        else {
          await database.transaction(async (tx) => {
            await insert({ id }, tx)
            await move({ id }, tx)
          })
        }
        console.log(id)
      }
    }
    await Promise.all(Array.from({ length: Number(atOnce) }, work))
  },
}

const database = await connect(url)
await jobs[job](database, ...args)
await database.close()
