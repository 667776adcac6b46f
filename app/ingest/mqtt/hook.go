package mqtt

import (
	"strings"
	"time"

	server "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/ingest/signal"
	"opsmon/schema/strictjson"
)

// hook implements the library's callbacks.
type hook struct {
	server.HookBase
	b *Broker
}

// ID implements server.Hook.
func (h *hook) ID() string { return "signals" }

// Provides implements server.Hook.
func (h *hook) Provides(b byte) bool {
	switch b {
	case server.OnConnect, server.OnConnectAuthenticate, server.OnACLCheck, server.OnSessionEstablished, server.OnPacketRead, server.OnPacketEncode, server.OnPublish:
		return true
	}
	return false
}

// OnConnect implements server.Hook: it authenticates a connection.
func (h *hook) OnConnect(cl *server.Client, pk packets.Packet) error { return h.b.signIn(cl, pk) }

// OnConnectAuthenticate implements server.Hook: OnConnect has authenticated the connection.
func (h *hook) OnConnectAuthenticate(*server.Client, packets.Packet) bool { return true }

// OnACLCheck implements server.Hook: it refuses subscriptions. OnPublish checks the topic of a message.
func (h *hook) OnACLCheck(_ *server.Client, _ string, write bool) bool { return write }

// OnSessionEstablished implements server.Hook.
func (h *hook) OnSessionEstablished(cl *server.Client, _ packets.Packet) {
	if k, ok := cl.Net.Conn.(*conn); ok {
		h.b.established(k)
	}
}

// OnPacketRead implements server.Hook: it removes unsupported features from packets.
func (h *hook) OnPacketRead(_ *server.Client, pk packets.Packet) (packets.Packet, error) {
	switch pk.FixedHeader.Type {
	case packets.Connect:
		pk.Connect.Clean = true // no session outlives its connection
		pk.Connect.WillFlag, pk.Connect.WillRetain, pk.Connect.WillQos, pk.Connect.WillTopic, pk.Connect.WillPayload = false, false, 0, "", nil
		pk.Connect.WillProperties = packets.Properties{}
	case packets.Publish:
		pk.FixedHeader.Retain = false
		if strings.HasPrefix(pk.TopicName, "$") {
			// the library would drop it silently; no template matches it in either form
			pk.TopicName = "/" + pk.TopicName
		}
	}
	return pk, nil
}

// OnPacketEncode implements server.Hook: it informs MQTT 5 clients of unsupported features.
func (h *hook) OnPacketEncode(_ *server.Client, pk packets.Packet) packets.Packet {
	if pk.FixedHeader.Type == packets.Connack && pk.ProtocolVersion >= 5 && pk.ReasonCode == 0 {
		p := &pk.Properties
		p.RetainAvailable, p.RetainAvailableFlag = 0, true
		p.WildcardSubAvailable, p.WildcardSubAvailableFlag = 0, true
		p.SharedSubAvailable, p.SharedSubAvailableFlag = 0, true
		p.SubIDAvailable, p.SubIDAvailableFlag = 0, true
		p.MaximumPacketSize = uint32(h.b.cfg.Limits.Packet)
	}
	return pk
}

// OnPublish implements server.Hook: it takes over a message, which the library does not process further.
func (h *hook) OnPublish(cl *server.Client, pk packets.Packet) (packets.Packet, error) {
	if k, ok := cl.Net.Conn.(*conn); ok {
		h.b.take(k, cl, &pk)
	}
	return pk, packets.ErrRejectPacket
}

// maxPace is the maximum delay of a message by rate limiting before the connection is closed.
const maxPace = 5_000_000_000 // ns

// soon is the approximate time after an acknowledgement in which a device that waits for each one sends the next
// message, in ns.
const soon = 10_000_000

// take validates a message and queues it in the intake. It blocks while too many are queued.
func (b *Broker) take(k *conn, cl *server.Client, pk *packets.Packet) {
	b.messages.Add(1)
	if !b.admit(k, cl, pk) {
		return
	}
	size := int64(len(pk.Payload))
	if b.budget.Acquire(k.ctx, size) != nil {
		return
	}
	five := cl.Properties.ProtocolVersion >= 5
	a := ack{id: pk.PacketID, qos: pk.FixedHeader.Qos}
	m := message{from: k.sender, urgent: a.qos > 0 && len(k.inFlight) == 1 && time.Now().UnixNano()-k.answered.Load() < soon}
	object, why := b.judge(k.sender, pk)
	switch {
	case why.issue == "":
		m.objects = []any{object}
	case why.cause == signal.CauseForeign && !five && a.qos > 0:
		// MQTT 3.1.1 cannot refuse a message, and acknowledging it would be wrong, so the connection is closed.
		b.cfg.Signals.NoteRefused(k.sender.signal(nil), why.cause, why.issue, 1)
		b.budget.Release(size)
		b.endSoon(k, EndedForeign, packets.ErrNotAuthorized)
		return
	default:
		b.cfg.Signals.NoteRefused(k.sender.signal(nil), why.cause, why.issue, 1)
		a.refuse(why.cause, why.issue, five)
	}
	m.answer = func(outcomes []signal.Outcome, err error) {
		b.budget.Release(size)
		if err != nil {
			b.endSoon(k, EndedStore, packets.ErrServerBusy)
			return
		}
		if len(outcomes) > 0 && !outcomes[0].Accepted {
			a.refuse(outcomes[0].Cause, outcomes[0].Issue, five)
		}
		k.answer(a)
	}
	if !b.in.put(k.ctx, m) {
		b.budget.Release(size)
	}
}

// admit waits until a connection may send another message; false if the connection has ended or is being closed.
func (b *Broker) admit(k *conn, cl *server.Client, pk *packets.Packet) bool {
	if k.ended() {
		return false
	}
	if pk.FixedHeader.Qos == 2 && cl.State.Inflight.Len() >= b.cfg.Limits.InFlight { // the device releases no messages
		b.endSoon(k, EndedPace, packets.ErrReceiveMaximum)
		return false
	}
	if wait := b.cfg.Signals.Pace(k.sender.account, k.sender.source); wait > 0 {
		if wait > maxPace {
			b.endSoon(k, EndedPace, packets.ErrMessageRateTooHigh)
			return false
		}
		if !sleep(k.ctx, wait) {
			return false
		}
	}
	if b.cfg.Signals.Await(k.ctx, k.sender.account, k.sender.source) != nil {
		return false
	}
	select {
	case k.inFlight <- struct{}{}:
		return true
	case <-k.ctx.Done():
		return false
	}
}

// refuse adds the reason to an acknowledgement. MQTT 3.1.1 gets a plain one: otherwise the device would repeat the
// invalid message for ever.
func (a *ack) refuse(cause signal.Cause, issue string, five bool) {
	if !five {
		return
	}
	a.why = issue
	switch cause {
	case signal.CauseForeign:
		a.code = packets.ErrNotAuthorized
	case signal.CauseStation:
		a.code = packets.ErrTopicNameInvalid
	default:
		a.code = packets.ErrPayloadFormatInvalid
	}
}

// refusal is the reason why a message is not a signal; its issue is "" if it is one.
type refusal struct {
	cause signal.Cause
	issue string
}

// judge returns the decoded object of a message, or the reason for refusing it.
func (b *Broker) judge(s *sender, pk *packets.Packet) (object any, why refusal) {
	station := ""
	for _, t := range b.cfg.Topics {
		account, code, ok := t.match(pk.TopicName)
		if !ok {
			continue
		}
		if account != "" && account != s.account {
			return nil, refusal{signal.CauseForeign, "the topic is another account's"}
		}
		station = code
		break
	}
	if station == "" {
		return nil, refusal{signal.CauseForeign, "the topic must be one for signals, such as v1/" + s.account + "/signals/STATION"}
	}
	if !s.maySend(station) {
		return nil, refusal{signal.CauseForeign, "the topic names a station that is not one of this device's"}
	}
	return objectOf(pk.Payload, station)
}

// objectOf decodes a payload as a signal of a station; "" takes the station from the payload.
func objectOf(payload []byte, station string) (object any, why refusal) {
	if s, ok := signal.Quick(payload, signal.MQTT); ok && (s.Station == "" || s.Station == station || station == "") {
		if station != "" {
			s.Station = station
		}
		return s, refusal{}
	}
	v, err := strictjson.Decode(payload)
	if err != nil {
		return nil, refusal{signal.CauseMalformed, "is not one JSON object: " + err.Error()}
	}
	properties, ok := v.(map[string]any)
	if !ok {
		return nil, refusal{signal.CauseMalformed, "must be one JSON object"}
	}
	return properties, place(properties, station)
}

// place sets the station from a topic in an object, unless the object has a different one.
func place(object map[string]any, station string) refusal {
	if station == "" {
		return refusal{}
	}
	for _, name := range []string{"station_code", "stationCode"} {
		if given, there := object[name]; there && given != nil {
			if given != station {
				return refusal{signal.CauseValue, name + " is not the station of the topic"}
			}
			return refusal{}
		}
		delete(object, name)
	}
	object["station_code"] = station
	return refusal{}
}
