import { connect } from '@tollgate/database'
import { clientCredentials, createAuthorizationServer } from '@tollgate/oauth'

// An application whose module exports promises, in an object.

const database = connect(process.env.APP_DATABASE_URL ?? '')

const oauth = database.then((database) =>
  createAuthorizationServer({
    issuer: 'https://app.example',
    secret: 'q2Vf8RkT0mXw5Zs7Ua4Nc9Hb1Ld6Pj3E',
    database,
    users: { findById: (id) => ({ id: String(id) }) },
    grants: [clientCredentials()],
  }),
)

export default { database, oauth }
