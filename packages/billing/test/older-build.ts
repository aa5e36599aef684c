import { type Database, insertIfAbsent, timestamp } from '@tollgate/database'

/** What the build before `0005-owners` sends, with the columns that it knew. */
export function olderBuild(database: Database) {
  type Row = Record<string, unknown>
  const byName = database.statement<{ userId: number; name: string }, Row>((db, param) =>
    db
      .selectFrom('subscriptions')
      .selectAll()
      .where('user_id', '=', param('userId'))
      .where('name', '=', param('name'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1),
  )
  const byId = database.statement<{ id: number }, Row>((db, param) =>
    db.selectFrom('users').selectAll().where('id', '=', param('id')),
  )
  const ofUser = database.statement<{ userId: number }, Row>((db, param) =>
    db
      .selectFrom('billing_operations')
      .select(['id', 'name', 'kind', 'request'])
      .where('user_id', '=', param('userId'))
      .orderBy('created_at'),
  )
  return {
    findSubscription: async (userId: number, name: string) =>
      (await byName({ userId, name })).rows[0] ?? null,
    findUser: async (id: number) => (await byId({ id })).rows[0] ?? null,
    listOperations: async (userId: number) => (await ofUser({ userId })).rows,
    beginOperation: (id: string, userId: number, fingerprint: string) =>
      database.transaction((tx) =>
        insertIfAbsent(tx, 'billing_operations', {
          id,
          user_id: userId,
          kind: 'subscription',
          fingerprint,
          request: '{"provider":"stripe"}',
          name: 'main',
          created_at: 1,
        }),
      ),
    finishOperation: (id: string) =>
      database.kysely.deleteFrom('billing_operations').where('id', '=', id).execute(),
    saveSubscription: (userId: number, providerId: string, plan: string, at: Date) =>
      database.transaction(async (tx) => {
        const changes = {
          provider_plan: plan,
          provider_status: 'active',
          quantity: 1,
          trial_ends_at: null,
          ends_at: null,
          updated_at: timestamp(at),
        }
        const { numUpdatedRows } = await tx.kysely
          .updateTable('subscriptions')
          .set(changes)
          .where('provider', '=', 'stripe')
          .where('provider_id', '=', providerId)
          .executeTakeFirst()
        if (Number(numUpdatedRows) > 0) return
        await tx.kysely
          .insertInto('subscriptions')
          .values({
            user_id: userId,
            name: 'main',
            provider: 'stripe',
            provider_id: providerId,
            created_at: timestamp(at),
            ...changes,
          })
          .execute()
      }),
    saveCard: (id: number, brand: string) =>
      database.kysely
        .updateTable('users')
        .set({
          provider: 'stripe',
          provider_id: `cus_${id}`,
          card_brand: brand,
          card_last_four: '4242',
          paypal_email: null,
        })
        .where('id', '=', id)
        .execute(),
  }
}
