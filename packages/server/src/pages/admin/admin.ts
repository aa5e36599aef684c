import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addAdminClients } from './clients/clients.ts'
import { addKeys } from './keys.tsx'
import { addOverview } from './overview/overview.tsx'
import { addPersonActions } from './people/actions.tsx'
import { addPeople } from './people/people.tsx'
import { addPerson } from './people/person.tsx'

/** Adds the pages of operators. Other people get a 404. */
export function addAdmin(app: Hono<AppEnv>): void {
  addOverview(app)
  addPeople(app)
  addPerson(app)
  addPersonActions(app)
  addAdminClients(app)
  addKeys(app)
}
