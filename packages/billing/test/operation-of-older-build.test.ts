import { createColumns, createTable, migrate } from '@tollgate/database'
import { expect, it } from 'vitest'
import type { Template } from '../../../test-support/create-test-database.ts'
import { billingMigrations } from '../src/index.ts'
import { olderBuild } from './older-build.ts'
import { start, stripeSdk } from './support.ts'

const OPERATION = 'c0ffee00c0ffee00c0ffee00'

/** A database of the build that knew only users, one of whom it was just subscribing when it was stopped. */
const before: Template = {
  name: 'billing before owners, with an open operation',
  async fill(database) {
    const columns = createColumns(database)
    await createTable(database, 'users', {
      columns: {
        id: columns.integer,
        email: columns.string(255).nullable(),
        name: columns.string(255).nullable(),
      },
      primaryKey: ['id'],
    })
    const users = {
      table: 'users',
      id: 'id',
      idType: 'integer',
      email: 'email',
      name: 'name',
    } as const
    const { migrations, ...set } = billingMigrations(users)
    await migrate(database, { ...set, migrations: migrations.filter(({ id }) => id < '0005') })
    await database.kysely.insertInto('users').values({ id: 1 }).execute()
    await olderBuild(database).beginOperation(OPERATION, 1, 'f')
  },
}

it('an operation that the build before has begun is finished by the one after', async () => {
  const test = await start('stripe', {}, before)
  const stripe = await stripeSdk(test)
  const { id: customer } = await stripe.customers.create()
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer })
  const { id: providerId } = await stripe.subscriptions.create({
    customer,
    default_payment_method: card.id,
    items: [{ price: 'monthly' }],
    metadata: { name: 'main', operation: OPERATION },
  })
  const { kysely } = test.database
  await kysely
    .updateTable('users')
    .set({ provider: 'stripe', provider_id: customer })
    .where('id', '=', 1)
    .execute()
  const user = await test.billing.user(1)
  expect(await user.subscribed('main')).toBe(false)
  expect((await test.billing.sync()).failures).toEqual([])
  expect(await user.subscription('main')).toMatchObject({ providerId, userId: 1 })
  expect(await kysely.selectFrom('billing_operations').selectAll().execute()).toEqual([])
})
