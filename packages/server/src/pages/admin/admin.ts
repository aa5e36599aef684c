import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addAudit } from './audit/audit.ts'
import { addAdminClients } from './clients/clients.ts'
import { addDisputes } from './disputes.tsx'
import { addKeys } from './keys.tsx'
import { addMail } from './mail.tsx'
import { addOverview } from './overview/overview.tsx'
import { addPersonActions } from './people/actions.tsx'
import { addInvoices } from './people/invoices.tsx'
import { addPeople } from './people/people.tsx'
import { addPerson } from './people/person.tsx'
import { addTimeline } from './people/timeline.tsx'
import { addPlans } from './plans.tsx'
import { addSettings } from './settings.tsx'
import { addWebhooks } from './webhooks/webhooks.ts'

/** Adds the pages of operators. Other people get a 404. */
export function addAdmin(app: Hono<AppEnv>): void {
  addOverview(app)
  addPeople(app)
  addPerson(app)
  addInvoices(app)
  addTimeline(app)
  addPersonActions(app)
  addDisputes(app)
  addAdminClients(app)
  addPlans(app)
  addWebhooks(app)
  addMail(app)
  addKeys(app)
  addAudit(app)
  addSettings(app)
}
