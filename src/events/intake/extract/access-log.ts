/** `access_combined`: web server lines in the combined or common format, with or without the virtual host before it. */
import { timeText } from '../../event-time.ts';
import type { Members } from './members.ts';
import { memberSet, setPresent } from './members.ts';
import { wholeTime } from './text-time.ts';

// The pattern counts escapes: alternation per character would take seconds in a megabyte of text.
const LINE =
  /^(?:(\S+:\d+) )?(\S+) (\S+) (\S+) \[([^\]]{1,40})\] "([^"\\]*(?:\\.[^"\\]*){0,5000})" (\d{3}|-) (\d+|-)(?: "([^"\\]*(?:\\.[^"\\]*){0,5000})" "([^"\\]*(?:\\.[^"\\]*){0,5000})")?/s;
/** A busy server writes many lines a second. */
const last = { text: '', micros: 0 };
const REQUEST = /^([A-Z]+) (\S+)(?: (HTTP\/[\d.]+))?$/;

export function extractAccessLog(text: string): Members | null {
  const match = LINE.exec(text);
  if (match === null) return null;
  const [, vhost, clientip, ident, user, time, request, status, bytes, referer, useragent] = match;
  const micros = time === last.text ? last.micros : wholeTime(time!, 'UTC');
  if (micros === null) return null;
  last.text = time!;
  last.micros = micros;
  const members = memberSet();
  setPresent(members, 'vhost', vhost);
  setPresent(members, 'clientip', clientip);
  setPresent(members, 'ident', ident);
  setPresent(members, 'user', user);
  members['event_time'] = timeText(micros);
  setRequest(members, request!);
  if (status !== '-') members['status'] = Number(status);
  if (bytes !== '-') members['bytes'] = Number(bytes);
  setPresent(members, 'referer', referer);
  setPresent(members, 'useragent', useragent);
  return members;
}

function setRequest(members: Members, request: string): void {
  const parts = REQUEST.exec(request);
  if (parts === null) {
    setPresent(members, 'request', request);
    return;
  }
  const [, method, uri, protocol] = parts;
  const question = uri!.indexOf('?');
  members['method'] = method;
  members['uri'] = uri;
  members['uri_path'] = question < 0 ? uri : uri!.slice(0, question);
  if (question >= 0) members['uri_query'] = uri!.slice(question + 1);
  setPresent(members, 'protocol', protocol);
}
