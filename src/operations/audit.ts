/**
 * The audit, as administrators read it (DS-134, DS-140).
 */
import { auditList } from '../auth/audit.ts';
import type { ListPage } from '../store/list-source.ts';
import {
  type Administrator,
  type AdminServices,
  type ListRequest,
  readList,
} from './administration.ts';

/** Entries, newest first. Throws as `readList`. */
export async function listAudit(
  services: AdminServices,
  admin: Administrator,
  request: ListRequest,
): Promise<ListPage> {
  return readList(services, admin, auditList, request);
}
