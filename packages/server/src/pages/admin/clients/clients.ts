import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addClientPage } from './client-page.tsx'
import { addEditClient } from './edit.tsx'
import { addClientList } from './list.tsx'
import { addNewClients } from './new.tsx'
import { addSecrets } from './secret.tsx'

/**
 * Adds the pages about applications. The paths for new applications are added first, because they
 * look like ids.
 */
export function addAdminClients(app: Hono<AppEnv>): void {
  addClientList(app)
  addNewClients(app)
  addClientPage(app)
  addEditClient(app)
  addSecrets(app)
}
