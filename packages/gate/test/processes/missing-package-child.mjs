// An application that wants shared rates without the packages that they need: prints the error.
import { connect } from '@tollgate/database'
import { createGate, meter, plan } from '@tollgate/gate'

const database = await connect('sqlite::memory:')
const gate = createGate({
  database,
  redis: 'redis://127.0.0.1:1',
  meters: { calls: meter() },
  plans: { free: plan({ quota: { calls: '3/month' }, rate: '1/second' }) },
  otherwise: 'free',
})
try {
  await gate.admit({ type: 'user', id: 7 }, 'calls')
} catch ({ code, message }) {
  console.log(JSON.stringify({ code, message }))
}
await gate.close()
await database.close()
