import type { Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { addAuditPages } from './audit/audit.ts'
import { addAdminClientPages } from './clients/clients.ts'
import { addDisputesPage } from './disputes.tsx'
import { addKeyPages } from './keys.tsx'
import { addMailPages } from './mail.tsx'
import { addOverviewPage } from './overview/overview.tsx'
import { addAllPersonActionRoutes } from './people/actions.tsx'
import { addPeoplePage } from './people/people.tsx'
import { addPersonPage } from './people/person.tsx'
import { addTimelinePage } from './people/timeline.tsx'
import { addPlansPage } from './plans.tsx'
import { addSettingsPage } from './settings.tsx'
import { addTeamPages } from './teams/teams.tsx'
import { addWebhookPages } from './webhooks/webhooks.ts'

/** Adds the pages of operators. Other people get a 404. */
export function addAdminPages(app: Hono<AppEnv>): void {
  addOverviewPage(app)
  addPeoplePage(app)
  addPersonPage(app)
  addTimelinePage(app)
  addAllPersonActionRoutes(app)
  addTeamPages(app)
  addDisputesPage(app)
  addAdminClientPages(app)
  addPlansPage(app)
  addWebhookPages(app)
  addMailPages(app)
  addKeyPages(app)
  addAuditPages(app)
  addSettingsPage(app)
}
